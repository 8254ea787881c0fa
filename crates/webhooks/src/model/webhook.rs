use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, Edit, ExposeSecret, Name, Random, SecretCipher, SecretString, Unsealable, WebhookId,
};

use crate::model::EndpointUrl;

/// A receiver of the events of one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The number of the webhook.
    pub id: WebhookId,
    /// The application whose events it receives.
    pub application_id: ApplicationId,
    /// What staff say about it.
    pub details: WebhookDraft,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed; a new secret is a change.
    pub updated_at: DateTime<Utc>,
}

impl Webhook {
    /// How many webhooks one application may have.
    pub const MOST_PER_APPLICATION: i64 = 20;
}

/// What staff say about a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDraft {
    /// A name for people.
    pub name: Option<Name>,
    /// Where deliveries are sent.
    pub url: EndpointUrl,
    /// Whether deliveries are sent.
    pub is_active: bool,
}

/// What staff change about a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookChange {
    /// Another name, or none.
    pub name: Edit<Option<Name>>,
    /// Another address.
    pub url: Edit<EndpointUrl>,
    /// Whether deliveries are sent.
    pub is_active: Edit<bool>,
}

/// The signing key of one webhook: `whsec_` and 43 random letters and digits (256 bits). The key of the MAC is the
/// bytes of the whole text as it is shown.
pub struct WebhookSecret(SecretString);

impl WebhookSecret {
    /// A new secret.
    pub fn generate(random: &dyn Random) -> Self {
        Self(format!("whsec_{}", random.alphanumeric(43)).into())
    }

    /// The form that is stored.
    pub fn seal(&self, cipher: &dyn SecretCipher) -> String {
        cipher.seal(&self.0)
    }

    /// Back from the stored form.
    pub fn open(sealed: &str, cipher: &dyn SecretCipher) -> Result<Self, Unsealable> {
        cipher.open(sealed).map(Self)
    }

    /// The secret itself: to be shown once, or to sign with.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(***)")
    }
}

/// A webhook with its new secret, which cannot be shown again.
#[derive(Debug)]
pub struct IssuedWebhook {
    /// The stored record.
    pub webhook: Webhook,
    /// Its secret.
    pub secret: WebhookSecret,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::testing::{CountingRandom, PlainCipher};

    #[test]
    fn a_secret_has_a_prefix_and_43_letters_and_survives_sealing() {
        let secret = WebhookSecret::generate(&CountingRandom::new());
        let random = secret.reveal().strip_prefix("whsec_").unwrap();
        assert_eq!(random.len(), 43);
        assert!(random.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let opened = WebhookSecret::open(&secret.seal(&PlainCipher), &PlainCipher).unwrap();
        assert_eq!(opened.reveal(), secret.reveal());
        assert!(!format!("{secret:?}").contains(random));
    }
}
