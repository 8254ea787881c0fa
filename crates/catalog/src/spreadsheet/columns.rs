use super::{SheetRefused, SheetRow, quotable};

/// A column that a kind of sheet understands.
pub(super) trait Column: Copy + Eq + 'static {
    /// Every column with its name and its other names, in the order of an export.
    const ALL: &'static [(Self, &'static str, &'static [&'static str])];

    /// Returns `true` if the column holds numbers.
    fn is_number(self) -> bool;

    /// The name of the column.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(column, ..)| *column == self).map_or("", |(_, name, _)| name)
    }
}

/// Which column of a file is which.
#[derive(Debug, Clone)]
pub(super) struct Columns<C> {
    places: Vec<(C, usize)>,
    /// Headers nobody understands, as they stand in the file.
    pub ignored: Vec<String>,
}

impl<C: Column> Columns<C> {
    /// Reads the row of headers. Case, and whether words are parted by spaces, hyphens or underscores, do not matter.
    pub fn read(header: &SheetRow) -> Result<Self, SheetRefused> {
        let mut columns = Self { places: Vec::new(), ignored: Vec::new() };
        for place in 0..header.cells.len() {
            let title = header.text(place, false).unwrap_or_default().trim();
            if title.is_empty() {
                continue;
            }
            match Self::named(title) {
                None => columns.ignored.push(quotable(title)),
                Some(column) if columns.place(column).is_some() => {
                    return Err(SheetRefused::DuplicateColumn(column.name()));
                }
                Some(column) => columns.places.push((column, place)),
            }
        }
        Ok(columns)
    }

    /// Refuses a file without this column.
    pub fn require(&self, column: C) -> Result<(), SheetRefused> {
        self.place(column).map(|_| ()).ok_or_else(|| SheetRefused::MissingColumn(column.name()))
    }

    /// Where a column stands, counted from 0.
    pub fn place(&self, column: C) -> Option<usize> {
        self.places.iter().find(|(known, _)| *known == column).map(|(_, place)| *place)
    }

    fn named(title: &str) -> Option<C> {
        let plain = |text: &str| {
            let parted = text.to_lowercase().replace(['_', '-'], " ");
            parted.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let title = plain(title);
        let is_title = |name: &&str| plain(name) == title;
        C::ALL
            .iter()
            .find(|(_, name, others)| is_title(name) || others.iter().any(is_title))
            .map(|(column, ..)| *column)
    }
}
