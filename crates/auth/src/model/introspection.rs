use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, Line, Name, ProjectId, SecretString, TextError, wraps_text};
use uuid::Uuid;

/// Scopes of an active customer token: the client surface of its application.
pub const CLIENT_SCOPES: &[&str] = &["counterparty"];

/// Audience of an introspection client, such as the name of a backend: 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience(Line<64>);

impl Audience {
    /// Trims and checks the text. Case is significant.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        Line::parse(text).map(Self)
    }
}

wraps_text!(Audience);

/// Client credentials as presented by a backend: `client_id:client_secret`.
#[derive(Debug)]
pub struct ClientCredentials {
    pub(crate) client_id: Uuid,
    pub(crate) secret: SecretString,
}

impl ClientCredentials {
    /// Maximum length that is parsed, in bytes.
    pub const MAX: usize = 256;

    /// Splits at the first `:`. Returns `None` for anything but a UUID with hyphens, the colon and a secret.
    pub fn parse(text: &str) -> Option<Self> {
        let (client_id, secret) = text.split_once(':').filter(|_| text.len() <= Self::MAX)?;
        let client_id = Uuid::try_parse(client_id).ok().filter(|_| client_id.len() == uuid::fmt::Hyphenated::LENGTH)?;
        (!secret.is_empty()).then(|| Self { client_id, secret: secret.into() })
    }
}

/// Introspection client to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIntrospectionClient {
    /// Public identifier.
    pub client_id: Uuid,
    /// Application whose tokens it may introspect.
    pub application_id: ApplicationId,
    /// Audience.
    pub audience: Audience,
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// Stored client with the token to introspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredIntrospection {
    /// Fingerprint of the client's secret.
    pub fingerprint: String,
    /// `true` if the client and its application are active.
    pub is_active: bool,
    /// Audience of the client.
    pub audience: Audience,
    /// Project.
    pub project_id: ProjectId,
    /// Application of the client.
    pub application_id: ApplicationId,
    /// Name of the application.
    pub application_name: Name,
    /// Token, if it belongs to an existing customer and to this application.
    pub token: Option<IntrospectedToken>,
}

/// Stored token to introspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntrospectedToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
    /// Identifier of the customer for other services.
    pub principal: Uuid,
}

/// State of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenState {
    /// The token is not valid in this application. The reason is not reported.
    Inactive,
    /// The token is valid.
    Active(ActiveToken),
}

/// Valid token of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveToken {
    /// Identifier of the customer for other services. It never changes, and no other endpoint returns it.
    pub principal: Uuid,
    /// Project.
    pub project_id: ProjectId,
    /// Application the customer signed in to.
    pub application_id: ApplicationId,
    /// Name of the application.
    pub application_name: Name,
    /// End of validity.
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
