//! Contracts of the storage ports, for every implementation. Those of imports and exports are [`jobs`] and [`sheets`].
//!
//! Each function of [`stock`], [`names`], [`offers`], [`storefront`] and [`customers`] checks one promise of the ports
//! and panics if it is broken. An adapter implements the `Fixture` of a suite on a fresh storage and runs every function
//! with a storage of its own.
#![expect(clippy::unwrap_used, reason = "a broken promise fails the test that runs it")]

pub mod customers;
pub mod jobs;
pub mod names;
pub mod offers;
pub mod sheets;
pub mod stock;
pub mod storefront;

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Name, ProjectId, RecordError, Refusal, Stamp};

/// Name that never repeats in a process.
fn fresh(kind: &str) -> Name {
    static NEXT: AtomicI64 = AtomicI64::new(1);
    Name::parse(&format!("{kind} {}", NEXT.fetch_add(1, Ordering::Relaxed))).unwrap()
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

/// Changes by the service itself.
fn stamp(project: ProjectId) -> Stamp {
    Stamp::of_system(project, noon())
}

/// Identifier that no record has.
fn nothing<Id: TryFrom<i64, Error: std::fmt::Debug>>() -> Id {
    Id::try_from(i64::from(u32::MAX)).unwrap()
}

/// Returns `true` if the call was refused for this reason.
fn is_refused<T, R: Refusal + PartialEq>(outcome: &Result<T, RecordError<R>>, refusal: &R) -> bool {
    matches!(outcome, Err(RecordError::Refused(why)) if why == refusal)
}

/// Number of calls that succeeded, and of those that were refused for this reason.
fn counted<T, R: Refusal + PartialEq>(outcomes: &[Result<T, RecordError<R>>], refusal: &R) -> (usize, usize) {
    let refused = outcomes.iter().filter(|outcome| is_refused(outcome, refusal));
    (outcomes.iter().filter(|outcome| outcome.is_ok()).count(), refused.count())
}
