//! What a persistence port answers when it cannot do its work.

/// A failure of the storage itself; never a business refusal.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The storage cannot be reached or is overloaded. Nothing was changed; the same call may succeed later.
    #[error("the storage is unavailable: {0}")]
    Unavailable(String),
    /// The connection to the storage was lost while it committed: the change is stored whole, or not at all, and nobody
    /// can tell which. Look before doing it again.
    #[error("whether the change was stored is not known: {0}")]
    OutcomeUnknown(String),
    /// A stored record breaks an invariant of its type.
    #[error("a stored record is broken: {0}")]
    Corrupt(String),
    /// Anything else the storage reported.
    #[error("the storage failed: {0}")]
    Failed(String),
}

impl StoreError {
    /// For records whose stored form breaks an invariant.
    pub fn corrupt(reason: impl ToString) -> Self {
        Self::Corrupt(reason.to_string())
    }

    /// The same failure of a read that follows a commit: nobody may believe that nothing was done.
    #[must_use]
    pub fn after_commit(self) -> Self {
        match self {
            Self::Unavailable(why) => Self::OutcomeUnknown(format!("what was stored cannot be read: {why}")),
            error => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_after_a_commit_may_have_been_stored() {
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
