use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_kernel::{AccessDenied, Line, Name, Permission, ProjectId, Resource, Staff, StoreError};

use super::ports::ColumnMaps;
use super::{CardColumn, HeaderColumn, ImportError, SheetError, SheetRow, StockColumn, quotable};

/// Kind of records that a spreadsheet imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
pub enum ImportKind {
    /// Catalog items.
    #[strum(serialize = "nomenclatures_import")]
    Nomenclatures,
    /// Stock levels.
    #[strum(serialize = "inventories_upload")]
    Inventories,
}

impl ImportKind {
    /// Returns the permissions that such an import needs.
    pub fn to_import(self) -> &'static [Permission] {
        const CARDS: [Permission; 2] =
            [Permission::create(Resource::Nomenclatures), Permission::edit(Resource::Nomenclatures)];
        const STOCK: [Permission; 1] = [Permission::edit(Resource::Inventories)];
        match self {
            Self::Nomenclatures => &CARDS,
            Self::Inventories => &STOCK,
        }
    }

    /// Returns the names of the columns, in the order of an export.
    pub fn columns(self) -> Vec<&'static str> {
        match self {
            Self::Nomenclatures => CardColumn::ALL.iter().map(|(_, name, _)| *name).collect(),
            Self::Inventories => StockColumn::ALL.iter().map(|(_, name, _)| *name).collect(),
        }
    }
}

/// Header of a file and its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedHeader {
    /// Header, with single spaces.
    pub header: Name,
    /// Name of a column; `None` ignores the header.
    pub column: Option<&'static str>,
    key: String,
}

/// Mapping of headers to columns. It takes precedence over the known headers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnMap {
    headers: Vec<MappedHeader>,
    is_complete: bool,
}

impl ColumnMap {
    /// Maximum number of headers.
    pub const MAX_HEADERS: usize = 200;

    /// Creates a mapping for many files: headers missing in a file are ignored, and several headers may map to one
    /// column. Returns all problems.
    pub fn shared<H: AsRef<str>, C: AsRef<str>>(
        kind: ImportKind,
        entries: impl IntoIterator<Item = (H, Option<C>)>,
    ) -> Result<Self, Vec<String>> {
        let known = kind.columns();
        let (mut map, mut wrong, mut seen) = (Self::default(), Vec::new(), BTreeSet::new());
        for (count, (header, column)) in entries.into_iter().enumerate() {
            if count >= Self::MAX_HEADERS {
                wrong.push(format!("must have at most {} headers", Self::MAX_HEADERS));
                break;
            }
            let (header, quoted) = (header.as_ref(), quotable(header.as_ref()));
            let words = header.split_whitespace().collect::<Vec<_>>().join(" ");
            let parsed = Name::parse(&words).map_err(|error| error.to_string());
            let column =
                column.map(|column| {
                    let column = column.as_ref();
                    known.iter().find(|name| **name == column).copied().ok_or_else(|| {
                        format!("`{quoted}`: `{}` must be one of {}", quotable(column), known.join(", "))
                    })
                });
            match (parsed, column.transpose()) {
                (Ok(header), Ok(column)) => {
                    let key = fold(&header);
                    if seen.insert(key.clone()) {
                        map.headers.push(MappedHeader { header, column, key });
                    } else {
                        wrong.push(format!("has the header `{quoted}` twice"));
                    }
                }
                (header, column) => {
                    wrong.extend(header.err().map(|reason| format!("the header `{quoted}` {reason}")));
                    wrong.extend(column.err());
                }
            }
        }
        if wrong.is_empty() { Ok(map) } else { Err(wrong) }
    }

    /// Creates a mapping for one file: the file must have every header, and each column has one header.
    pub fn of_file<H: AsRef<str>, C: AsRef<str>>(
        kind: ImportKind,
        entries: impl IntoIterator<Item = (H, Option<C>)>,
    ) -> Result<Self, Vec<String>> {
        let map = Self::shared(kind, entries)?;
        let wrong: Vec<String> = kind
            .columns()
            .into_iter()
            .filter_map(|column| {
                let named: Vec<String> = map
                    .headers
                    .iter()
                    .filter(|mapped| mapped.column == Some(column))
                    .map(|mapped| format!("`{}`", mapped.header))
                    .collect();
                (named.len() > 1)
                    .then(|| format!("{} are all `{column}`; each column must have one header", named.join(", ")))
            })
            .collect();
        if wrong.is_empty() { Ok(Self { is_complete: true, ..map }) } else { Err(wrong) }
    }

    /// Returns the headers in the given order.
    pub fn headers(&self) -> &[MappedHeader] {
        &self.headers
    }

    /// Returns `true` if the file must have every header.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns `true` if there is no header.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Returns the entry of a folded header.
    pub(super) fn get(&self, key: &str) -> Option<&MappedHeader> {
        self.headers.iter().find(|mapped| mapped.key == key)
    }

    /// Returns required headers that the file does not have.
    pub(super) fn missing(&self, keys: &BTreeSet<String>) -> Vec<String> {
        let missing = self.headers.iter().filter(|mapped| self.is_complete && !keys.contains(&mapped.key));
        missing.map(|mapped| format!("there is no header `{}` in the file", mapped.header)).collect()
    }
}

/// Use cases of the column mappings that a project saves for its imports.
pub struct ImportColumns {
    /// Storage of the mappings.
    pub maps: Arc<dyn ColumnMaps>,
}

impl ImportColumns {
    /// Returns the saved mapping of the employee's project.
    pub async fn read(&self, staff: &Staff, kind: ImportKind) -> Result<ColumnMap, ImportError> {
        may_import(staff, kind)?;
        Ok(self.read_for(staff.project_id, kind).await?)
    }

    /// Replaces the saved mapping.
    pub async fn replace(&self, staff: &Staff, kind: ImportKind, map: ColumnMap) -> Result<ColumnMap, ImportError> {
        may_import(staff, kind)?;
        self.replace_for(staff.project_id, kind, map.clone()).await?;
        Ok(map)
    }

    /// Returns the saved mapping of a project, for operators.
    pub async fn read_for(&self, project: ProjectId, kind: ImportKind) -> Result<ColumnMap, StoreError> {
        self.maps.find(project, kind).await
    }

    /// Replaces the saved mapping of a project, for operators.
    pub async fn replace_for(&self, project: ProjectId, kind: ImportKind, map: ColumnMap) -> Result<(), StoreError> {
        self.maps.replace(project, kind, map).await
    }
}

fn may_import(staff: &Staff, kind: ImportKind) -> Result<(), AccessDenied> {
    kind.to_import().iter().try_for_each(|permission| staff.require(*permission))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const CARDS: ImportKind = ImportKind::Nomenclatures;

    #[test]
    fn all_errors_are_reported() {
        let wrong = ColumnMap::shared(
            CARDS,
            [("Цена", Some("prise")), (" ", Some("name")), ("Арт.", None), ("АРТ.", Some("article"))],
        );
        let wrong = wrong.unwrap_err();
        assert!(wrong[0].starts_with("`Цена`: `prise` must be one of article, name"), "{wrong:?}");
        assert!(wrong[1].starts_with("the header ` ` "), "{wrong:?}");
        assert_eq!(wrong[2..], ["has the header `АРТ.` twice"]);
    }

    #[test]
    fn a_column_of_one_file_has_one_header() {
        let entries = [("Розница", Some("price")), ("Опт", Some("price")), ("Код", Some("article"))];
        assert!(ColumnMap::shared(CARDS, entries).is_ok());
        let wrong = ColumnMap::of_file(CARDS, entries).unwrap_err();
        assert_eq!(wrong, ["`Розница`, `Опт` are all `price`; each column must have one header"]);
    }

    #[test]
    fn the_number_of_headers_is_bounded() {
        let entries = |count: usize| (0..count).map(|number| (format!("h{number}"), None::<&str>));
        assert!(ColumnMap::shared(CARDS, entries(200)).is_ok());
        assert_eq!(ColumnMap::shared(CARDS, entries(201)).unwrap_err(), ["must have at most 200 headers"]);
    }
}
