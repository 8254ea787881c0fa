//! Two use cases meet: one is paused before each of its statements while the other one runs to its end there, on PostgreSQL.
//!
//! Whatever the pause, the rows that both leave and what they answer are those of one after the other, in one of the two orders,
//! and the rules about rows hold. A scene says what is stored before, and which use cases meet in it: every one of them meets
//! every other one and itself.
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
    /// What happens.
    pub name: &'static str,
    /// It takes no row that another transaction holds, and comes again: so it may find nothing to do.
    pub skips: bool,
    /// Does it. Answers what came of it.
    pub run: for<'a> fn(&'a Actor<'a>) -> BoxFuture<'a, String>,
}

/// Use cases by what happens.
macro_rules! acts {
    ($($name:literal => |$actor:ident| $does:expr;)+) => {
        &[$($crate::interleavings::Act {
            name: $name,
            skips: false,
            run: |$actor| Box::pin(async move { $crate::interleavings::told($does.await) }),
        }),+]
    };
}
use acts;

/// How what came of a use case begins that was refused.
const REFUSED: &str = "refused: ";

/// What came of a use case: what it refuses with, or what it answers if that is a text.
fn told<T: Any, E: Debug>(outcome: Result<T, E>) -> String {
    match outcome {
        Ok(answer) => {
            let answer: &dyn Any = &answer;
            answer.downcast_ref::<String>().cloned().unwrap_or_else(|| "done".to_owned())
        }
        Err(error) => format!("{REFUSED}{error:?}"),
    }
}
