//! Who changed which record, when, and what of it.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{CounterpartyId, Page, PageRequest, ProjectId, Resource, Staff, StoreError, UserId};

/// Who changes a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// An employee or an agent.
    User(UserId),
    /// A customer.
    Customer(CounterpartyId),
    /// The service itself: the worker or the command line.
    System,
}

/// Who changes records of which project, and when: what a port needs to commit a change together with its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The project of the records.
    pub project_id: ProjectId,
    /// Who changes them.
    pub author: Author,
    /// When.
    pub at: DateTime<Utc>,
}

impl Stamp {
    /// An employee changes records of his project.
    pub fn of(staff: &Staff, at: DateTime<Utc>) -> Self {
        Self { project_id: staff.project_id, author: Author::User(staff.user_id), at }
    }

    /// The service changes records of a project by itself.
    pub fn of_system(project_id: ProjectId, at: DateTime<Utc>) -> Self {
        Self { project_id, author: Author::System, at }
    }
}

/// A field by its name on the wire, and its value as people read it; `None` where the record has none.
pub type AuditedField = (&'static str, Option<String>);

/// A record whose history is kept.
pub trait Audited {
    /// Whose history it is; together with [`Audited::number`] it names the record.
    const RESOURCE: Resource;

    /// What its lines are kept under: the name of the resource, unless other records share the permissions.
    const KIND: &'static str = Self::RESOURCE.name();

    /// The number of the record among those of its kind.
    fn number(&self) -> i64;

    /// Every field that an employee can change, always the same ones in the same order.
    fn audited_fields(&self) -> Vec<AuditedField>;
}

/// One field of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// The field by its name on the wire.
    pub field: String,
    /// What it was.
    pub old: Option<String>,
    /// What it became.
    pub new: Option<String>,
}

/// What of a record a change changed: the fields whose values differ. A record that comes or goes has nothing on the
/// other side.
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

/// The fields that differ; both sides name the same fields in the same order.
pub fn changed_fields(before: Vec<AuditedField>, after: Vec<AuditedField>) -> Vec<FieldChange> {
    before
        .into_iter()
        .zip(after)
        .filter(|((_, old), (_, new))| old != new)
        .map(|((field, old), (_, new))| FieldChange { field: field.to_owned(), old, new })
        .collect()
}

/// What the history of a record tells of a part of it that came or changed: `contacts.7.value`.
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

/// What happened to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum HistoryAction {
    /// It came.
    Created,
    /// Fields of it changed.
    Changed,
    /// It went.
    Deleted,
}

/// One line of a record's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The number of the line.
    pub id: i64,
    /// What happened.
    pub action: HistoryAction,
    /// Who did it.
    pub author: Author,
    /// The name of an employee or customer, while he has one.
    pub author_name: Option<String>,
    /// What changed.
    pub changes: Vec<FieldChange>,
    /// When.
    pub at: DateTime<Utc>,
}

/// Where histories are read. They are written by the ports that change records, in the same commits.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Histories: Send + Sync {
    /// One page of the history of a record of the project, the latest first.
    async fn page(
        &self,
        project: ProjectId,
        resource: Resource,
        number: i64,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, StoreError>;

    /// The whole history of a record of the project, the latest first.
    async fn all(&self, project: ProjectId, resource: Resource, number: i64) -> Result<Vec<HistoryEntry>, StoreError>;
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
    fn only_what_differs_is_told() {
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
    fn a_part_of_a_record_is_told_under_its_name_and_number() {
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
