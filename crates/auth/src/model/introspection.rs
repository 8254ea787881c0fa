use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, Line, Name, ProjectId, SecretString, TextError};
use uuid::Uuid;

/// What an active token of a customer is good for: the client surface of its application.
pub const CLIENT_SCOPES: &[&str] = &["counterparty"];

/// Whom a client for introspection was issued for, such as the name of a backend: 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience(Line<64>);

impl Audience {
    /// Trims and checks. Capitals count.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        Line::parse(text).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a backend presents: `client_id:client_secret`.
#[derive(Debug)]
pub struct ClientCredentials {
    pub(crate) client_id: Uuid,
    pub(crate) secret: SecretString,
}

impl ClientCredentials {
    /// The longest text that is looked at, in bytes.
    pub const MAX: usize = 256;

    /// Splits at the first `:`. `None` for anything but a UUID with hyphens, the colon and a secret.
    pub fn parse(text: &str) -> Option<Self> {
        let (client_id, secret) = text.split_once(':').filter(|_| text.len() <= Self::MAX)?;
        let client_id = Uuid::try_parse(client_id).ok().filter(|_| client_id.len() == uuid::fmt::Hyphenated::LENGTH)?;
        (!secret.is_empty()).then(|| Self { client_id, secret: secret.into() })
    }
}

/// A client that is being issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIntrospectionClient {
    /// Its public identifier.
    pub client_id: Uuid,
    /// The application whose tokens it may ask about.
    pub application_id: ApplicationId,
    /// Whom it is for.
    pub audience: Audience,
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// Now.
    pub created_at: DateTime<Utc>,
}

/// A stored client with the token it asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredInquiry {
    /// Fingerprint of the client's secret.
    pub fingerprint: String,
    /// Whether the client and its application are active.
    pub is_active: bool,
    /// Whom the client was issued for.
    pub audience: Audience,
    /// The project.
    pub project_id: ProjectId,
    /// The application of the client.
    pub application_id: ApplicationId,
    /// Its name.
    pub application_name: Name,
    /// The named token, if it is one of a customer who still exists, for this application.
    pub token: Option<IntrospectedToken>,
}

/// A stored token that is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntrospectedToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// The end of its validity.
    pub expires_at: DateTime<Utc>,
    /// The customer as other services know him.
    pub principal: Uuid,
}

/// What a token is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenState {
    /// It opens nothing in this application; why is not said.
    Inactive,
    /// It is valid.
    Active(ActiveToken),
}

/// A valid token of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveToken {
    /// The customer as other services know him; it never changes and is told by no other endpoint.
    pub principal: Uuid,
    /// The project.
    pub project_id: ProjectId,
    /// The application the customer signed in to.
    pub application_id: ApplicationId,
    /// Its name.
    pub application_name: Name,
    /// The end of its validity.
    pub expires_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::ExposeSecret;

    const ID: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

    #[test]
    fn credentials_are_a_uuid_and_a_secret() {
        let known = ClientCredentials::parse(&format!("{ID}:a:b")).unwrap();
        assert_eq!((known.client_id.to_string().as_str(), known.secret.expose_secret()), (ID, "a:b"));
        assert!(ClientCredentials::parse(&format!("{}:s", ID.to_uppercase())).is_some());
        assert!(!format!("{known:?}").contains("a:b"));
        let (simple, long) = (ID.replace('-', ""), "s".repeat(220));
        for text in [
            "",
            ":",
            "shop:s",
            ID,
            &format!("{ID}:"),
            &format!("{simple}:s"),
            &format!("{{{ID}}}:s"),
            &format!("{ID}:{long}"),
        ] {
            assert!(ClientCredentials::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_audience_has_up_to_sixty_four_characters() {
        assert_eq!(Audience::parse(" billing ").unwrap().as_str(), "billing");
        assert!(Audience::parse(&"ж".repeat(64)).is_ok());
        for text in [&"a".repeat(65), "", " ", "a\nb"] {
            assert!(Audience::parse(text).is_err(), "{text}");
        }
    }
}
