//! Wire form of histories.

use chrono::{DateTime, Utc};
use kontor_kernel::Word;
use kontor_kernel::history::{Author, FieldChange, HistoryEntry};
use serde::Serialize;
use utoipa::ToSchema;

use super::envelope::list;

/// Changed field.
#[derive(Serialize, ToSchema)]
struct FieldChangeRecord {
    /// Name of the field in requests.
    field: String,
    old: Option<String>,
    new: Option<String>,
}

impl From<FieldChange> for FieldChangeRecord {
    fn from(change: FieldChange) -> Self {
        Self { field: change.field, old: change.old, new: change.new }
    }
}

/// Author of a change.
#[derive(Serialize, ToSchema)]
struct AuthorRecord {
    id: i64,
    name: Option<String>,
}

/// History entry. `user` is the employee or agent who made the change, `counterparty` the customer. Both are `null` for
/// changes by the service itself.
#[derive(Serialize, ToSchema)]
pub struct HistoryRecord {
    id: i64,
    /// `created`, `changed` or `deleted`
    action: &'static str,
    #[serde(rename = "dateTime")]
    date_time: DateTime<Utc>,
    user: Option<AuthorRecord>,
    counterparty: Option<AuthorRecord>,
    changes: Vec<FieldChangeRecord>,
}

impl From<HistoryEntry> for HistoryRecord {
    fn from(entry: HistoryEntry) -> Self {
        let name = entry.author_name;
        let (user, counterparty) = match entry.author {
            Author::User(id) => (Some(AuthorRecord { id: id.get(), name }), None),
            Author::Customer(id) => (None, Some(AuthorRecord { id: id.get(), name })),
            Author::System => (None, None),
        };
        Self {
            id: entry.id,
            action: entry.action.word(),
            date_time: entry.at,
            user,
            counterparty,
            changes: entry.changes.into_iter().map(Into::into).collect(),
        }
    }
}

list!(
    /// Page of a history, newest first.
    pub HistoryList { histories: [HistoryRecord], histories_count of all, pagination }
);
