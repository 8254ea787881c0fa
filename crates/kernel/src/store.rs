//! Errors of ports.

/// Failure of the storage itself; never a business refusal.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The storage cannot be reached or is overloaded. Nothing was changed, so the same call can be retried.
    #[error("the storage is unavailable: {0}")]
    Unavailable(String),
    /// Another request with the same idempotency key was stored first. Nothing was changed.
    #[error("another request with the same idempotency key was stored first")]
    KeyTaken,
    /// The connection was lost during the commit. The change was stored completely or not at all, and it is unknown
    /// which. Check before retrying.
    #[error("it is unknown whether the change was stored: {0}")]
    OutcomeUnknown(String),
    /// A stored record breaks an invariant of its type.
    #[error("a stored record is corrupt: {0}")]
    Corrupt(String),
    /// Any other failure reported by the storage.
    #[error("the storage failed: {0}")]
    Failed(String),
}

impl StoreError {
    /// Creates the error of a stored record that breaks an invariant.
    pub fn corrupt(reason: impl ToString) -> Self {
        Self::Corrupt(reason.to_string())
    }

    /// Converts the failure of a read that follows a commit: callers must not conclude that nothing was changed.
    #[must_use]
    pub fn after_commit(self) -> Self {
        match self {
            Self::Unavailable(why) => Self::OutcomeUnknown(format!("the stored result cannot be read: {why}")),
            error => error,
        }
    }
}

/// Error of a read of one record by anyone who may read it.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The record does not exist, or is not shown.
    #[error("there is no such record")]
    NotFound,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reason why a message was not sent. The provider may have done part of the work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The provider answered and refused.
    #[error("the provider refused: {0}")]
    Refused(String),
    /// The provider could not be reached, or its answer could not be understood.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_row_after_a_commit_may_be_stored() {
        let gone = StoreError::Unavailable("no route".to_owned()).after_commit();
        assert!(matches!(gone, StoreError::OutcomeUnknown(why) if why.ends_with("no route")));
        for error in
            [StoreError::corrupt("a date"), StoreError::Failed("a".into()), StoreError::OutcomeUnknown("b".into())]
        {
            let text = error.to_string();
            assert_eq!(error.after_commit().to_string(), text);
        }
    }
}
