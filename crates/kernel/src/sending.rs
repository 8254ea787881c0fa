/// Why a message did not go out. Whether the provider did part of the work is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The provider answered and refused.
    #[error("the provider refused: {0}")]
    Refused(String),
    /// The provider could not be reached, or its answer made no sense.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
}
