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
