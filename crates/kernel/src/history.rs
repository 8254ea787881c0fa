//! History entries: author, time and changed fields of each record.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{CounterpartyId, Page, PageRequest, ProjectId, Resource, Staff, StoreError, UserId};

/// Author of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// Employee or agent.
    User(UserId),
    /// Customer.
    Customer(CounterpartyId),
    /// The service itself: worker or command line.
    System,
}

/// Project, author and time of a change. A port needs it to commit a change together with its history entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Project of the records.
    pub project_id: ProjectId,
    /// Author of the change.
    pub author: Author,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

impl Stamp {
    /// Creates the stamp of an employee in their project.
    pub fn of(staff: &Staff, at: DateTime<Utc>) -> Self {
        Self { project_id: staff.project_id, author: Author::User(staff.user_id), at }
    }

    /// Creates the stamp of the service itself.
    pub fn of_system(project_id: ProjectId, at: DateTime<Utc>) -> Self {
        Self { project_id, author: Author::System, at }
    }
}

/// Field name on the wire and its value in readable form; `None` if the field is empty.
pub type AuditedField = (&'static str, Option<String>);

/// Record with history entries.
pub trait Audited {
    /// Resource whose permissions apply to the record.
    const RESOURCE: Resource;

    /// Kind under which entries are stored: the name of the resource, unless other records share its permissions.
    /// Together with [`Audited::number`] it identifies the record.
    const KIND: &'static str = Self::RESOURCE.name();

    /// Returns the identifier of the record, unique within its kind.
    fn number(&self) -> i64;

    /// Returns every field that an employee can change, always the same fields in the same order.
    fn audited_fields(&self) -> Vec<AuditedField>;
}

/// Change of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Field, by its name on the wire.
    pub field: String,
    /// Value before the change.
    pub old: Option<String>,
    /// Value after the change.
    pub new: Option<String>,
}

/// Returns the fields whose values differ. A created or deleted record has `None` on the other side.
pub fn diff<R: Audited>(old: Option<&R>, new: Option<&R>) -> Vec<FieldChange> {
    let fields = |record: Option<&R>| record.map(R::audited_fields).unwrap_or_default();
    let (mut before, mut after) = (fields(old), fields(new));
    let empty = |fields: &[AuditedField]| fields.iter().map(|(field, _)| (*field, None)).collect::<Vec<AuditedField>>();
    if old.is_none() {
        before = empty(&after);
    }
    if new.is_none() {
        after = empty(&before);
    }
    changed_fields(before, after)
}

/// Returns the fields that differ. Both lists name the same fields in the same order.
pub fn changed_fields(before: Vec<AuditedField>, after: Vec<AuditedField>) -> Vec<FieldChange> {
    before
        .into_iter()
        .zip(after)
        .filter(|((_, old), (_, new))| old != new)
        .map(|((field, old), (_, new))| FieldChange { field: field.to_owned(), old, new })
        .collect()
}

/// Returns the changes of a part of a record, prefixed with its path: `contacts.7.value`.
pub fn part_changes(
    name: &str,
    number: i64,
    before: Option<Vec<AuditedField>>,
    after: Vec<AuditedField>,
) -> Vec<FieldChange> {
    let before = before.unwrap_or_else(|| after.iter().map(|(field, _)| (*field, None)).collect());
    let named = |change: FieldChange| FieldChange { field: format!("{name}.{number}.{}", change.field), ..change };
    changed_fields(before, after).into_iter().map(named).collect()
}

/// Kind of a history entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum HistoryAction {
    /// The record was created.
    Created,
    /// Fields of the record were changed.
    Changed,
    /// The record was deleted.
    Deleted,
}

/// History entry of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Identifier of the entry.
    pub id: i64,
    /// Kind of the change.
    pub action: HistoryAction,
    /// Author of the change.
    pub author: Author,
    /// Name of the employee or customer, if they have one.
    pub author_name: Option<String>,
    /// Changed fields.
    pub changes: Vec<FieldChange>,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

/// Reads history entries. Ports that change records write the entries in the same commit.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Histories: Send + Sync {
    /// Returns one page of the history of a record of the project, newest first. `kind` is [`Audited::KIND`].
    async fn page(
        &self,
        project: ProjectId,
        kind: &'static str,
        number: i64,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, StoreError>;

    /// Returns the whole history of a record of the project, newest first.
    async fn all(&self, project: ProjectId, kind: &'static str, number: i64) -> Result<Vec<HistoryEntry>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing(Option<&'static str>, u32);

    impl Audited for Thing {
        const RESOURCE: Resource = Resource::Brands;

        fn number(&self) -> i64 {
            1
        }

        fn audited_fields(&self) -> Vec<AuditedField> {
            vec![("name", self.0.map(str::to_owned)), ("size", Some(self.1.to_string()))]
        }
    }

    fn change(field: &str, old: Option<&str>, new: Option<&str>) -> FieldChange {
        FieldChange { field: field.to_owned(), old: old.map(str::to_owned), new: new.map(str::to_owned) }
    }

    #[test]
    fn only_differences_are_reported() {
        let (before, after) = (Thing(Some("a"), 1), Thing(None, 1));
        assert_eq!(diff(Some(&before), Some(&after)), [change("name", Some("a"), None)]);
        assert_eq!(diff(Some(&before), Some(&before)), []);
    }

    #[test]
    fn a_record_comes_with_what_it_has_and_goes_with_it() {
        let thing = Thing(None, 1);
        assert_eq!(diff(None, Some(&thing)), [change("size", None, Some("1"))]);
        assert_eq!(diff(Some(&thing), None), [change("size", Some("1"), None)]);
    }

    #[test]
    fn a_part_of_a_record_is_logged_under_its_name_and_number() {
        let fields = |value: &str| vec![("value", Some(value.to_owned())), ("kind", Some("home".to_owned()))];
        let came = [change("contacts.7.value", None, Some("a")), change("contacts.7.kind", None, Some("home"))];
        assert_eq!(part_changes("contacts", 7, None, fields("a")), came);
        let changed = [change("contacts.7.value", Some("a"), Some("b"))];
        assert_eq!(part_changes("contacts", 7, Some(fields("a")), fields("b")), changed);
    }

    #[test]
    fn a_stamp_names_who_changes_what_and_when() {
        let (staff, at) = (crate::testing::staff_with([]), DateTime::UNIX_EPOCH);
        let project_id = staff.project_id;
        assert_eq!(Stamp::of(&staff, at), Stamp { project_id, author: Author::User(staff.user_id), at });
        assert_eq!(Stamp::of_system(project_id, at), Stamp { project_id, author: Author::System, at });
    }
}
