use std::borrow::Cow;

use kontor_kernel::{Line, NomenclatureId};

use super::{Content, ItemKey, RowProblems};

/// Effect of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum RowAction {
    /// Creates a record.
    Create,
    /// Changes a record.
    Update,
    /// The record already matches the row.
    Unchanged,
    /// The row is invalid and skipped.
    Skip,
}

/// Values by column name; `None` for an empty cell.
type Values = Vec<(Cow<'static, str>, Option<String>)>;

/// Row of a file with its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPreview {
    /// Row number as the spreadsheet counts, from 1.
    pub row: u32,
    /// Effect.
    pub action: RowAction,
    /// Article (SKU), if known.
    pub article: Option<Line<100>>,
    /// Identifier of the record; `None` for a new one.
    pub id: Option<i64>,
    /// Warehouse as written in the file; only for stock.
    pub warehouse: Option<String>,
    /// Values to write: the non-empty ones of a new record, or the changed ones of an existing record.
    pub fields: Values,
    /// Current values of the changed fields of an existing record.
    pub before: Values,
}

impl RowPreview {
    /// Maximum number of rows in a preview.
    pub const MAX_ROWS: usize = 20;
    /// Maximum length of a value in a preview, in characters.
    const MAX_VALUE_LENGTH: usize = 200;

    /// Creates a row that changes nothing.
    pub(super) fn unchanged(row: u32, article: Option<&Line<100>>, id: Option<i64>) -> Self {
        let (fields, before) = (Vec::new(), Vec::new());
        let article = article.cloned();
        Self { row, action: RowAction::Unchanged, article, id, warehouse: None, fields, before }
    }

    /// Creates a skipped row.
    pub(super) fn skipped(row: u32, key: Option<&ItemKey>) -> Self {
        let (article, id) = match key {
            Some(ItemKey::Article(article)) => (Some(article), None),
            Some(ItemKey::Id(id)) => (None, Some(NomenclatureId::get(*id))),
            None => (None, None),
        };
        Self { action: RowAction::Skip, ..Self::unchanged(row, article, id) }
    }

    /// Returns the first rows that could not be read.
    pub(super) fn from_problems(problems: &RowProblems) -> Vec<Self> {
        let mut rows: Vec<u32> = problems.kept().iter().map(|problem| problem.row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter().take(Self::MAX_ROWS).map(|row| Self::skipped(row, None)).collect()
    }

    /// Returns the first of these rows, in the order of the file.
    pub(super) fn first(mut rows: Vec<Self>) -> Vec<Self> {
        rows.sort_by_key(|row| row.row);
        rows.truncate(Self::MAX_ROWS);
        rows
    }

    /// Returns the row as unchanged.
    #[must_use]
    pub(super) fn kept(self) -> Self {
        Self { action: RowAction::Unchanged, fields: Vec::new(), before: Vec::new(), ..self }
    }

    /// Adds the values of a new record.
    #[must_use]
    pub(super) fn creating<'a>(self, values: impl IntoIterator<Item = (&'static str, Content<'a>)>) -> Self {
        let fields = values.into_iter().map(|(name, value)| (Cow::Borrowed(name), shown(&value)));
        let fields = fields.filter(|(_, text)| text.is_some());
        Self { action: RowAction::Create, fields: fields.collect(), ..self }
    }

    /// Adds the changed values: name, current value, new value.
    #[must_use]
    pub(super) fn updating<'a>(
        self,
        values: impl IntoIterator<Item = (&'static str, Content<'a>, Content<'a>)>,
    ) -> Self {
        let mut preview = Self { action: RowAction::Update, ..self };
        for (name, before, after) in values {
            if before != after {
                preview.before.push((name.into(), shown(&before)));
                preview.fields.push((name.into(), shown(&after)));
            }
        }
        preview
    }
}

/// Returns the text that an export would write.
fn shown(value: &Content<'_>) -> Option<String> {
    let text = match value {
        Content::Empty => return None,
        Content::Text(text) => text.as_ref(),
        Content::Number(number) => number,
    };
    let mut shown: String = text.chars().take(RowPreview::MAX_VALUE_LENGTH).collect();
    if text.chars().nth(RowPreview::MAX_VALUE_LENGTH).is_some() {
        shown.push('…');
    }
    Some(shown)
}
