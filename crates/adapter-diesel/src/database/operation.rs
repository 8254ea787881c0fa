//! Operations. A write operation reports about itself: the cached data that it changes, and its part in the request it
//! belongs to. The reports are kept by the connection that runs the operation, and every attempt begins without any.
//!
//! The way of an operation to a thread, to a connection and through a transaction is compiled once, not once per
//! operation: its types are erased.

use std::any::Any;

use kontor_kernel::StoreError;

use super::failure::conclude;
use super::idempotency::KeyOwner;
use super::invalidation::{Invalidations, Topic};
use super::{Abort, AnyConnection};

/// Record that an operation created, changed or deleted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub resource: &'static str,
    pub id: i64,
    /// `true` if the record was created. A created record takes precedence over others.
    pub is_new: bool,
}

/// Reports of an operation so far.
#[derive(Debug, Default)]
pub(super) struct Operation {
    pub invalidations: Invalidations,
    pub named: Option<Named>,
    is_preparation: bool,
    /// Owners whose keys it deleted.
    without_keys: Vec<KeyOwner>,
}

impl Operation {
    /// `true` if a request of this owner stores its key with the operation.
    pub fn stores_key_of(&self, owner: KeyOwner) -> bool {
        !self.is_preparation && !self.without_keys.contains(&owner)
    }
}

impl AnyConnection {
    /// Notes that the operation changes data of this topic in this project.
    pub(crate) fn invalidate(&mut self, topic: Topic, project: i64) {
        self.operation.invalidations.insert(topic, project);
    }

    /// Notes that the operation changes data of every topic in any project.
    pub(crate) fn invalidate_everything(&mut self) {
        self.operation.invalidations.insert_everything();
    }

    /// Notes that the operation writes to tables of this topic without changing cached data.
    pub(crate) fn declare_unchanged(&mut self, topic: Topic) {
        self.operation.invalidations.declare_unchanged(topic);
    }

    /// Notes the record that the operation created.
    pub(crate) fn note_created(&mut self, resource: &'static str, id: i64) {
        self.note_record(resource, id, true);
    }

    /// Notes the record that the operation is about, so that its state can be returned if the response is lost.
    pub(crate) fn note_record(&mut self, resource: &'static str, id: i64, is_new: bool) {
        let named = &mut self.operation.named;
        if named.is_none_or(|named| is_new && !named.is_new) {
            *named = Some(Named { resource, id, is_new });
        }
    }

    /// Notes that the operation only prepares the request and stores no key. If nothing follows, a repeated request
    /// runs again and finds the preparation done.
    pub(crate) fn note_preparation(&mut self) {
        self.operation.is_preparation = true;
    }

    /// Notes that all keys of an owner are deleted, including the key of the current request.
    pub(super) fn note_keys_deleted(&mut self, owner: KeyOwner) {
        self.operation.without_keys.push(owner);
    }
}

/// Result or refusal of an operation.
pub(super) type Answer = Box<dyn Any + Send>;
pub(super) type Outcome = Result<Answer, Abort<Answer>>;
pub(super) type Step = Box<dyn Fn(&mut AnyConnection) -> Outcome + Send>;

pub(super) fn hide<T: Send + 'static, R: Send + 'static>(
    work: impl Fn(&mut AnyConnection) -> Result<T, Abort<R>> + Send + 'static,
) -> Step {
    Box::new(move |connection| match work(connection) {
        Ok(answer) => Ok(Box::new(answer)),
        Err(abort) => Err(abort.map(|reason| -> Answer { Box::new(reason) })),
    })
}

/// Restores the types of an outcome. The operation must have been erased with the same types.
pub(super) fn reveal<T: 'static, R: From<StoreError> + 'static>(outcome: Outcome) -> Result<T, R> {
    let other = || StoreError::Failed("a step returned the result of another step".to_owned());
    match outcome {
        Ok(answer) => answer.downcast().map(|answer| *answer).map_err(|_| other().into()),
        Err(abort) => {
            Err(conclude(abort.map(|reason| reason.downcast().map_or_else(|_| other().into(), |reason| *reason))))
        }
    }
}

#[cfg(test)]
mod tests {
    use diesel::{Connection, SqliteConnection};

    use super::*;
    use crate::database::Driver;

    #[derive(Debug, PartialEq)]
    enum Refusal {
        Odd(i64),
        Stored,
    }

    impl From<StoreError> for Refusal {
        fn from(_: StoreError) -> Self {
            Self::Stored
        }
    }

    #[test]
    fn a_step_returns_its_result_to_the_caller() {
        let mut connection = Driver::Sqlite(SqliteConnection::establish(":memory:").unwrap()).into();
        let mut run = |number: i64| {
            let step = hide(move |_| match number {
                0 => Err(Abort::Store(StoreError::corrupt("nothing"))),
                number if number % 2 == 1 => Err(Abort::Refused(Refusal::Odd(number))),
                number => Ok(number.to_string()),
            });
            reveal::<String, Refusal>(step(&mut connection))
        };
        assert_eq!((run(2), run(3), run(0)), (Ok("2".to_owned()), Err(Refusal::Odd(3)), Err(Refusal::Stored)));
    }
}
