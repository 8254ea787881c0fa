//! Change feeds: records in the order in which they changed, for programs that keep a copy of a list.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use crate::{AccessDenied, Clock, Permission, ProjectId, Resource, Staff, StoreError};

/// List that has a change feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ChangedList {
    /// Customers.
    Counterparties,
    /// Stock levels.
    Inventories,
    /// Catalog items.
    Nomenclatures,
    /// Orders.
    Orders,
    /// Subscriptions.
    Subscriptions,
}

impl ChangedList {
    fn resource(self) -> Resource {
        match self {
            Self::Counterparties => Resource::Counterparties,
            Self::Inventories => Resource::Inventories,
            Self::Nomenclatures => Resource::Nomenclatures,
            Self::Orders => Resource::Orders,
            Self::Subscriptions => Resource::Subscriptions,
        }
    }
}

/// Position in a change feed, ordered by time, then by identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangePosition {
    /// Time of the last change.
    pub at: DateTime<Utc>,
    /// Identifier of the record.
    pub id: i64,
}

/// Last change of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Position in the change feed.
    pub position: ChangePosition,
    /// `true` if the record was deleted.
    pub is_deletion: bool,
}

/// Cursor of a change feed. Clients store it as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeCursor {
    list: ChangedList,
    after: ChangePosition,
    /// Start of the current walk, until the walk reaches the end of the feed.
    began_at: Option<DateTime<Utc>>,
}

/// Reason why a cursor is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorRefusal {
    /// The service did not issue it, or issued it for another list.
    #[error("is not a cursor of this list")]
    Foreign,
    /// Deletions since then may have been purged, or the clock was set back and changes since then have earlier times.
    #[error("is older than 30 days or ahead of the current time: start again without a cursor")]
    Expired,
}

impl fmt::Display for ChangeCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list: &str = self.list.into();
        let parts = |at: DateTime<Utc>| (at.timestamp(), at.timestamp_subsec_nanos());
        let (seconds, nanos) = parts(self.after.at);
        write!(formatter, "{list}.{seconds}.{nanos}.{}", self.after.id)?;
        match self.began_at.map(parts) {
            Some((seconds, nanos)) => write!(formatter, ".{seconds}.{nanos}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ChangeCursor {
    type Err = CursorRefusal;

    fn from_str(text: &str) -> Result<Self, CursorRefusal> {
        let (list, numbers) = text.split_once('.').ok_or(CursorRefusal::Foreign)?;
        let list = list.parse().map_err(|_| CursorRefusal::Foreign)?;
        let numbers: Result<Vec<i64>, _> = numbers.splitn(6, '.').map(str::parse).collect();
        let moment = |seconds, nanos| DateTime::from_timestamp(seconds, u32::try_from(nanos).ok()?);
        let read = match *numbers.map_err(|_| CursorRefusal::Foreign)?.as_slice() {
            [seconds, nanos, id] => moment(seconds, nanos).map(|at| (at, id, None)),
            [seconds, nanos, id, began, nanos_began] => {
                moment(seconds, nanos).zip(moment(began, nanos_began)).map(|(at, began)| (at, id, Some(began)))
            }
            _ => None,
        };
        // No database stores every time of the calendar.
        let issued = read.filter(|(at, id, _)| *id >= 0 && *at >= DateTime::UNIX_EPOCH);
        let (at, id, began_at) = issued.ok_or(CursorRefusal::Foreign)?;
        Ok(Self { list, after: ChangePosition { at, id }, began_at })
    }
}

/// One page of a change feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Identifiers of existing records, in the order of change.
    pub changed: Vec<i64>,
    /// Identifiers of deleted records.
    pub deleted: Vec<i64>,
    /// Cursor of the next page.
    pub next: ChangeCursor,
    /// `true` if more changes are available now.
    pub has_more: bool,
    /// Deletions before this time are not reported.
    pub deletions_since: DateTime<Utc>,
}

/// Reads change feeds.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ChangeLog: Send + Sync {
    /// Returns the changes of a list of the project after this position, at most `limit`, without deletions before
    /// `deletions_since`.
    async fn changes(
        &self,
        project: ProjectId,
        list: ChangedList,
        after: ChangePosition,
        deletions_since: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<Change>, StoreError>;
}

/// Error of a change feed.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// The caller may not see the list.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The cursor is invalid.
    #[error(transparent)]
    Cursor(#[from] CursorRefusal),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Use case of programs that keep a copy of a list.
pub struct ChangeService {
    /// Change feeds.
    pub log: Arc<dyn ChangeLog>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl ChangeService {
    /// Returns the overlap of two walks: the longest time from the timestamp of a change until the change is readable,
    /// plus the clock difference of two machines. Changes of this period are reported again. The storage refuses a change
    /// that it could not store within a shorter time.
    pub fn overlap() -> TimeDelta {
        TimeDelta::minutes(2)
    }

    /// Returns the period for which deletions are reported.
    pub fn deletion_retention() -> TimeDelta {
        TimeDelta::days(30)
    }

    /// Starts a walk: returns the changes since `since`, or all records if it is `None`.
    pub async fn since(
        &self,
        staff: &Staff,
        list: ChangedList,
        since: Option<DateTime<Utc>>,
        limit: u32,
    ) -> Result<Changes, ChangesError> {
        let at = since.and_then(|since| since.checked_sub_signed(Self::overlap())).unwrap_or(DateTime::UNIX_EPOCH);
        self.walk(staff, ChangeCursor { list, after: ChangePosition { at, id: 0 }, began_at: None }, limit).await
    }

    /// Returns the changes after this cursor. Refuses cursors of another list, cursors older than the kept deletions, and
    /// cursors ahead of the clock.
    pub async fn after(
        &self,
        staff: &Staff,
        list: ChangedList,
        cursor: ChangeCursor,
        limit: u32,
    ) -> Result<Changes, ChangesError> {
        if cursor.list != list {
            return Err(CursorRefusal::Foreign.into());
        }
        let now = self.clock.now();
        let is_old = cursor.began_at.unwrap_or(cursor.after.at) < now - Self::deletion_retention();
        // The clock was set back: new changes have times before the cursor.
        if is_old || cursor.began_at.map_or(cursor.after.at, |began| began - Self::overlap()) > now {
            return Err(CursorRefusal::Expired.into());
        }
        self.walk(staff, cursor, limit).await
    }

    /// A full page continues after its last change. At the end of the feed, changes with earlier timestamps may still
    /// become readable, so the next walk begins before the start of this one.
    async fn walk(&self, staff: &Staff, cursor: ChangeCursor, limit: u32) -> Result<Changes, ChangesError> {
        staff.require(Permission::view(cursor.list.resource()))?;
        let now = self.clock.now();
        let began_at = cursor.began_at.unwrap_or(now);
        let deletions_since = now - Self::deletion_retention();
        let changes = self.log.changes(staff.project_id, cursor.list, cursor.after, deletions_since, limit).await?;
        let last = changes.last().filter(|_| u32::try_from(changes.len()).is_ok_and(|count| count >= limit));
        let end = ChangePosition { at: began_at - Self::overlap(), id: 0 };
        let after = last.map_or(end, |last| last.position);
        let next = ChangeCursor { after, began_at: last.map(|_| began_at), ..cursor };
        let has_more = last.is_some();
        let numbers = |deleted: bool| changes.iter().filter(move |change| change.is_deletion == deleted);
        Ok(Changes {
            changed: numbers(false).map(|change| change.position.id).collect(),
            deleted: numbers(true).map(|change| change.position.id).collect(),
            next,
            has_more,
            deletions_since,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FixedClock;
    use crate::testing::staff_with;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_790_000_000 + seconds, 7).unwrap()
    }

    fn change(seconds: i64, id: i64) -> Change {
        Change { position: ChangePosition { at: at(seconds), id }, is_deletion: id == 3 }
    }

    /// Service at second 1,000 whose feed has these changes.
    fn service(changes: Vec<Change>) -> ChangeService {
        let mut log = MockChangeLog::new();
        log.expect_changes().returning(move |_, _, after, _, limit| {
            let later = changes.iter().copied().filter(|change| change.position > after);
            Ok(later.take(usize::try_from(limit).unwrap()).collect())
        });
        ChangeService { log: Arc::new(log), clock: Arc::new(FixedClock::at(at(1_000))) }
    }

    fn viewer() -> Staff {
        staff_with([Permission::view(Resource::Orders)])
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let after = ChangePosition { at: at(5), id: 9 };
        for began_at in [None, Some(at(8))] {
            let cursor = ChangeCursor { list: ChangedList::Orders, after, began_at };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for text in [
            "",
            "orders",
            "orders.1.2",
            "pears.1.2.3",
            "orders.1.2.3.4",
            "orders.1.2.-3",
            "orders.-8000000000000.2.3.1790000000.0",
            "orders.x.2.3",
            "orders.1.9999999999.3",
            "orders.99999999999999.0.1",
            "orders.1.2.3.4.5.6",
        ] {
            assert_eq!(text.parse::<ChangeCursor>(), Err(CursorRefusal::Foreign), "{text}");
        }
    }

    #[tokio::test]
    async fn a_walk_lists_every_change_and_the_next_one_begins_before_it() {
        let service = service(vec![change(1, 5), change(1, 6), change(2, 3), change(990, 4)]);
        let first = service.since(&viewer(), ChangedList::Orders, None, 2).await.unwrap();
        assert_eq!(
            (first.changed.as_slice(), first.deleted.as_slice(), first.has_more),
            ([5, 6].as_slice(), [].as_slice(), true)
        );
        let second = service.after(&viewer(), ChangedList::Orders, first.next, 2).await.unwrap();
        assert_eq!(
            (second.changed.as_slice(), second.deleted.as_slice(), second.has_more),
            ([4].as_slice(), [3].as_slice(), true)
        );
        let end = service.after(&viewer(), ChangedList::Orders, second.next, 2).await.unwrap();
        assert_eq!((end.changed.len(), end.has_more), (0, false));
        let again = service.after(&viewer(), ChangedList::Orders, end.next, 2).await.unwrap();
        assert_eq!((again.changed.as_slice(), again.has_more), ([4].as_slice(), false), "changed within two minutes");
    }

    #[tokio::test]
    async fn a_moment_includes_what_was_committed_late() {
        let service = service(vec![change(800, 1), change(900, 2)]);
        let since = service.since(&viewer(), ChangedList::Orders, Some(at(950)), 10).await.unwrap();
        assert_eq!(since.changed, [2]);
        let far = service.since(&viewer(), ChangedList::Orders, Some(DateTime::<Utc>::MIN_UTC), 10).await.unwrap();
        assert_eq!(far.changed, [1, 2]);
    }

    #[tokio::test]
    async fn old_and_future_cursors_those_of_other_lists_and_strangers_are_refused() {
        let service = service(Vec::new());
        let cursor = |began_at, seconds| ChangeCursor {
            list: ChangedList::Orders,
            after: ChangePosition { at: at(seconds), id: 1 },
            began_at,
        };
        let days = -31 * 24 * 3_600;
        for (list, cursor, refusal) in [
            (ChangedList::Inventories, cursor(None, 0), CursorRefusal::Foreign),
            (ChangedList::Orders, cursor(None, days), CursorRefusal::Expired),
            (ChangedList::Orders, cursor(Some(at(days)), 0), CursorRefusal::Expired),
            (ChangedList::Orders, cursor(None, 1_001), CursorRefusal::Expired),
            (ChangedList::Orders, cursor(Some(at(1_121)), 0), CursorRefusal::Expired),
        ] {
            let refused = service.after(&viewer(), list, cursor, 10).await;
            assert!(matches!(refused, Err(ChangesError::Cursor(found)) if found == refusal), "{refused:?}");
        }
        let walking = service.after(&viewer(), ChangedList::Orders, cursor(Some(at(0)), days), 10).await;
        assert!(walking.is_ok(), "a first walk reads old records");
        let elsewhere = service.after(&viewer(), ChangedList::Orders, cursor(Some(at(1_119)), 1_119), 10).await;
        assert!(elsewhere.is_ok(), "the clock of another machine is slightly ahead");
        let denied = service.since(&staff_with([]), ChangedList::Orders, None, 10).await;
        assert!(matches!(denied, Err(ChangesError::Denied(_))));
    }
}
