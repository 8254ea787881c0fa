//! Type-erased operation. Its way to a thread, to a connection and through a transaction is compiled once, not once per
//! operation.

use std::any::Any;

use kontor_kernel::StoreError;

use super::failure::conclude;
use super::{Abort, AnyConnection};

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
    use super::*;
    use crate::database::Driver;
    use diesel::{Connection, SqliteConnection};

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
