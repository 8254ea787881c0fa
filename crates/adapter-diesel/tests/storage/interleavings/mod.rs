//! Interleavings of two use cases on PostgreSQL: one is paused before each of its statements while the other one runs
//! to its end.
//!
//! For every pause, the resulting rows and responses equal those of a sequential run in one of the two orders, and the
//! rules about rows hold. A scene defines the stored rows and the use cases: each of them is paired with every other
//! one and with itself.
//!
//! Without `INTERLEAVINGS=all` a few of the pauses are chosen by `INTERLEAVINGS_SEED`.

mod access;
mod actor;
mod found;
mod meeting;
mod orders;
mod rules;
mod subscriptions;
mod tickets;
mod walk;

use std::any::Any;
use std::fmt::Debug;

use futures_util::future::BoxFuture;

pub use actor::{Actor, Facts};
pub use walk::{walk, walk_wholly};

/// A use case of a scene.
#[derive(Clone, Copy)]
pub struct Act {
    /// Description.
    pub name: &'static str,
    /// `true` if it skips rows locked by other transactions and is run again later: it may find nothing to do.
    pub skips: bool,
    /// Runs the use case and returns its outcome.
    pub run: for<'a> fn(&'a Actor<'a>) -> BoxFuture<'a, String>,
}

/// Use cases by description.
macro_rules! acts {
    ($($name:literal => |$actor:ident| $does:expr;)+) => {
        &[$($crate::interleavings::Act {
            name: $name,
            skips: false,
            run: |$actor| Box::pin(async move { $crate::interleavings::reported($does.await) }),
        }),+]
    };
}
use acts;

/// Prefix of the outcome of a refused use case.
const REFUSED: &str = "refused: ";

/// Outcome of a use case: its refusal, or its response if that is a text.
fn reported<T: Any, E: Debug>(outcome: Result<T, E>) -> String {
    match outcome {
        Ok(answer) => {
            let answer: &dyn Any = &answer;
            answer.downcast_ref::<String>().cloned().unwrap_or_else(|| "done".to_owned())
        }
        Err(error) => format!("{REFUSED}{error:?}"),
    }
}
