use std::collections::BTreeSet;

use kontor_kernel::Line;

use super::{ColumnMap, HeaderColumn, SheetError, SheetRow, quotable};

/// Column that a kind of sheet supports.
pub trait Column: Copy + Eq + 'static {
    /// Every column with its name and its alternative names, in the order of an export.
    const ALL: &'static [(Self, &'static str, &'static [&'static str])];

    /// Returns `true` if the column holds numbers.
    fn is_number(self) -> bool;

    /// Returns the name of the column.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(column, ..)| *column == self).map_or("", |(_, name, _)| name)
    }
}

/// Folds a header for comparison. Case, look-alike letters and the separator of words (space, hyphen or underscore) are
/// ignored.
pub(super) fn fold(title: &str) -> String {
    let words = |text: &str| {
        let parted = text.to_lowercase().replace(['_', '-'], " ");
        parted.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let folded = words(title);
    Line::<255>::parse(&folded).map_or(folded, |line| words(&line))
}

/// Columns of a header row.
#[derive(Debug, Clone)]
pub(super) struct Columns<C> {
    places: Vec<(C, usize)>,
    titles: Vec<HeaderColumn>,
    keys: BTreeSet<String>,
    duplicate: Option<C>,
}

impl<C: Column> Columns<C> {
    /// Reads a row as headers. Mapped headers take precedence: a known header is ignored if its column has a mapped
    /// header.
    pub fn read(header: &SheetRow, map: &ColumnMap) -> Self {
        let mut columns = Self { places: Vec::new(), titles: Vec::new(), keys: BTreeSet::new(), duplicate: None };
        let titles = (0..header.cells.len())
            .map(|place| (place, header.text(place, false).unwrap_or_default().trim()))
            .filter(|(_, title)| !title.is_empty())
            .map(|(place, title)| (place, title, fold(title)));
        let titles: Vec<_> = titles.collect();
        let mapped: Vec<Option<Option<C>>> =
            titles.iter().map(|(.., key)| map.get(key).map(|mapped| mapped.column.and_then(Self::called))).collect();
        let taken: Vec<C> = mapped.iter().copied().flatten().flatten().collect();
        for ((place, title, key), mapped) in titles.into_iter().zip(mapped) {
            let column = mapped.unwrap_or_else(|| Self::named(&key).filter(|column| !taken.contains(column)));
            if let Some(column) = column {
                if columns.place(column).is_some() {
                    columns.duplicate.get_or_insert(column);
                } else {
                    columns.places.push((column, place));
                }
            }
            let column = column.map(|column| column.name().to_owned());
            let words = title.split_whitespace().collect::<Vec<_>>().join(" ");
            columns.titles.push(HeaderColumn { header: quotable(&words), column });
            columns.keys.insert(key);
        }
        columns
    }

    /// Returns the reason why the row cannot be the header row of a sheet that needs these columns.
    pub fn refusal(&self, needed: &[C]) -> Option<SheetError> {
        let duplicate = self.duplicate.map(|column| SheetError::DuplicateColumn(column.name()));
        duplicate.or_else(|| self.missing_column(needed).map(SheetError::MissingColumn))
    }

    /// Returns the first needed column that is missing.
    pub fn missing_column(&self, needed: &[C]) -> Option<&'static str> {
        needed.iter().find(|column| self.place(**column).is_none()).map(|column| column.name())
    }

    /// Returns the folded headers.
    pub fn keys(&self) -> &BTreeSet<String> {
        &self.keys
    }

    /// Returns the headers as written in the file, with their columns.
    pub fn titles(&self) -> &[HeaderColumn] {
        &self.titles
    }

    /// Returns the index of a column, counted from 0.
    pub fn place(&self, column: C) -> Option<usize> {
        self.places.iter().find(|(known, _)| *known == column).map(|(_, place)| *place)
    }

    fn called(name: &str) -> Option<C> {
        C::ALL.iter().find(|(_, own, _)| *own == name).map(|(column, ..)| *column)
    }

    fn named(key: &str) -> Option<C> {
        let is_key = |name: &&str| fold(name) == key;
        C::ALL.iter().find(|(_, name, others)| is_key(name) || others.iter().any(is_key)).map(|(column, ..)| *column)
    }
}
