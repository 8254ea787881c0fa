//! Values of request fields: secrets, and changes that may clear a field.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// Token, password or code. Its `Debug` form does not contain it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Returns the text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Change of a field that may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The field stays. It is not sent.
    #[default]
    Keep,
    /// The field becomes empty. `null` is sent.
    Clear,
    /// The new value.
    Set(T),
}

impl<T> Patch<T> {
    /// Returns `true` if the field stays.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T> From<T> for Patch<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ProfilePatch;

    #[test]
    fn a_change_sends_what_changes() {
        let change = ProfilePatch {
            first_name: Patch::Set("Ada".to_owned()),
            middle_name: Patch::Clear,
            ..ProfilePatch::default()
        };
        assert_eq!(serde_json::to_string(&change).unwrap(), r#"{"first_name":"Ada","middle_name":null}"#);
    }

    #[test]
    fn a_secret_is_sent_and_not_printed() {
        let secret = Secret::from("1|token");
        assert_eq!((format!("{secret:?}"), secret.expose()), ("Secret(..)".to_owned(), "1|token"));
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"1|token\"");
    }
}
