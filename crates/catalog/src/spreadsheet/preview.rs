use kontor_kernel::{Line, NomenclatureId};

use super::{Content, ItemKey, RowProblems};

/// Fate of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum RowAction {
    /// A new record.
    Create,
    /// A change of a record.
    Update,
    /// The record is as the row says.
    Unchanged,
    /// The row is wrong and left out.
    Skip,
}

/// Values by the names of their columns; `None` for an empty cell.
type Values = Vec<(&'static str, Option<String>)>;

/// A row of a file as it will be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPreview {
    /// The row as the spreadsheet counts.
    pub row: u32,
    /// Its fate.
    pub action: RowAction,
    /// The article, as far as it is known.
    pub article: Option<Line<100>>,
    /// The number of the record; a new one has none.
    pub id: Option<i64>,
    /// The warehouse as the file has it; only of stock.
    pub warehouse: Option<String>,
    /// The values that will be written: of a new record those that are not empty, of a known one those that change.
    pub fields: Values,
    /// The values of a known record that change, as they are.
    pub before: Values,
}

impl RowPreview {
    /// Rows of a file that are shown.
    pub const SHOWN: usize = 20;
    /// Longest text that is shown, in characters.
    const LONGEST: usize = 200;

    /// A row that leaves its record as it is.
    pub(super) fn unchanged(row: u32, article: Option<&Line<100>>, id: Option<i64>) -> Self {
        let (fields, before) = (Vec::new(), Vec::new());
        let article = article.cloned();
        Self { row, action: RowAction::Unchanged, article, id, warehouse: None, fields, before }
    }

    /// A row that is left out.
    pub(super) fn skipped(row: u32, key: Option<&ItemKey>) -> Self {
        let (article, id) = match key {
            Some(ItemKey::Article(article)) => (Some(article), None),
            Some(ItemKey::Id(id)) => (None, Some(NomenclatureId::get(*id))),
            None => (None, None),
        };
        Self { action: RowAction::Skip, ..Self::unchanged(row, article, id) }
    }

    /// The first rows that could not be read.
    pub(super) fn unread(problems: &RowProblems) -> Vec<Self> {
        let mut rows: Vec<u32> = problems.kept().iter().map(|problem| problem.row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter().take(Self::SHOWN).map(|row| Self::skipped(row, None)).collect()
    }

    /// The first rows of the file, of these.
    pub(super) fn first(mut rows: Vec<Self>) -> Vec<Self> {
        rows.sort_by_key(|row| row.row);
        rows.truncate(Self::SHOWN);
        rows
    }

    /// The same row when it changes nothing after all.
    #[must_use]
    pub(super) fn kept(self) -> Self {
        Self { action: RowAction::Unchanged, fields: Vec::new(), before: Vec::new(), ..self }
    }

    /// With the values of a new record.
    #[must_use]
    pub(super) fn creating<'a>(self, values: impl IntoIterator<Item = (&'static str, Content<'a>)>) -> Self {
        let fields = values.into_iter().map(|(name, value)| (name, shown(&value))).filter(|(_, text)| text.is_some());
        Self { action: RowAction::Create, fields: fields.collect(), ..self }
    }

    /// With the values that change: the name, the value as it is, the value as it will be.
    #[must_use]
    pub(super) fn updating<'a>(
        self,
        values: impl IntoIterator<Item = (&'static str, Content<'a>, Content<'a>)>,
    ) -> Self {
        let mut preview = Self { action: RowAction::Update, ..self };
        for (name, before, after) in values {
            if before != after {
                preview.before.push((name, shown(&before)));
                preview.fields.push((name, shown(&after)));
            }
        }
        preview
    }
}

/// The text that an export would write.
fn shown(value: &Content<'_>) -> Option<String> {
    let text = match value {
        Content::Empty => return None,
        Content::Text(text) => text.as_ref(),
        Content::Number(number) => number,
    };
    let mut shown: String = text.chars().take(RowPreview::LONGEST).collect();
    if text.chars().nth(RowPreview::LONGEST).is_some() {
        shown.push('…');
    }
    Some(shown)
}
