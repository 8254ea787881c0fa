use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, Edit, ExposeSecret, Name, Random, SecretCipher, SecretString, UnsealError, WebhookId,
};

use crate::model::EndpointUrl;

/// Receiver of the events of one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Identifier of the webhook.
    pub id: WebhookId,
    /// Application whose events it receives.
    pub application_id: ApplicationId,
    /// Settings entered by staff.
    pub details: WebhookDraft,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change; a new secret is a change.
    pub updated_at: DateTime<Utc>,
}

impl Webhook {
    /// Maximum webhooks per application.
    pub const MAX_PER_APPLICATION: i64 = 20;
}

/// Settings of a webhook, entered by staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDraft {
    /// Display name.
    pub name: Option<Name>,
    /// Target address of deliveries.
    pub url: EndpointUrl,
    /// `true` if deliveries are sent.
    pub is_active: bool,
}

/// Changes to the settings of a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookChange {
    /// New name, or none.
    pub name: Edit<Option<Name>>,
    /// New address.
    pub url: Edit<EndpointUrl>,
    /// `true` if deliveries are sent.
    pub is_active: Edit<bool>,
}

impl WebhookChange {
    /// Returns `true` if the circuit breaker is reset: the address changes, or the endpoint is switched on.
    pub fn resets_circuit(&self) -> bool {
        self.url != Edit::Keep || self.is_active == Edit::Set(true)
    }
}

/// Signing key of one webhook: `whsec_` and 43 random letters and digits (256 bits). The key of the MAC is the
/// bytes of the whole text as shown.
pub struct WebhookSecret(SecretString);

impl WebhookSecret {
    /// Generates a secret.
    pub fn generate(random: &dyn Random) -> Self {
        Self(format!("whsec_{}", random.alphanumeric(43)).into())
    }

    /// Encrypts the secret for storage.
    pub fn seal(&self, cipher: &dyn SecretCipher) -> String {
        cipher.seal(&self.0)
    }

    /// Decrypts the stored form.
    pub fn open(sealed: &str, cipher: &dyn SecretCipher) -> Result<Self, UnsealError> {
        cipher.open(sealed).map(Self)
    }

    /// Returns the plain secret, to show once or to sign with.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(***)")
    }
}

/// Webhook with its new secret, which cannot be shown again.
#[derive(Debug)]
pub struct IssuedWebhook {
    /// The stored record.
    pub webhook: Webhook,
    /// Secret that signs the deliveries.
    pub secret: WebhookSecret,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::testing::{CountingRandom, PlainCipher};

    #[test]
    fn an_endpoint_is_reset_by_another_address_or_activation() {
        let url = Edit::Set(EndpointUrl::parse("https://shop.example").unwrap());
        assert!(WebhookChange { url, ..WebhookChange::default() }.resets_circuit());
        for (is_active, resets) in [(Edit::Set(true), true), (Edit::Set(false), false), (Edit::Keep, false)] {
            assert_eq!(WebhookChange { is_active, ..WebhookChange::default() }.resets_circuit(), resets);
        }
    }

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
