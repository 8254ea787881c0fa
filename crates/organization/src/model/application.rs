use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    ApplicationId, BranchId, ExposeSecret, Link, Name, Random, Resource, SecretCipher, SecretString, draft_and_change,
};

/// Site, app or service of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Identifier of the application.
    pub id: ApplicationId,
    /// Fields entered by staff.
    pub details: ApplicationDraft,
    /// `true` if its App Token is accepted.
    pub is_active: bool,
    /// Time when its App Token was issued.
    pub token_issued_at: DateTime<Utc>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

draft_and_change! {
    /// Fields of an application that staff enter.
    ApplicationDraft,
    /// Changes of an application.
    ApplicationChange {
        /// Branch that runs it.
        branch_id: BranchId,
        /// Name.
        name: Name,
        /// URL.
        url: Option<Link>,
        /// `true` if it sells wholesale.
        wholesale: bool,
    }
}

impl Audited for Application {
    const RESOURCE: Resource = Resource::Applications;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let details = &self.details;
        vec![
            ("branch_id", Some(details.branch_id.to_string())),
            ("name", Some(details.name.to_string())),
            ("url", details.url.as_ref().map(|url| url.as_str().to_owned())),
            ("wholesale", Some(details.wholesale.to_string())),
            ("is_active", Some(self.is_active.to_string())),
            // Shows that the token was replaced, and nothing of the token.
            ("token_issued_at", Some(self.token_issued_at.to_rfc3339())),
        ]
    }
}

/// Secret that identifies an application in the header `Token`.
pub struct AppToken(SecretString);

impl AppToken {
    /// Generates a token of 48 random letters and digits.
    pub fn generate(random: &dyn Random) -> Self {
        Self(random.alphanumeric(48).into())
    }

    /// Returns the stored form.
    pub fn fingerprint(&self, cipher: &dyn SecretCipher) -> String {
        cipher.fingerprint(self.0.expose_secret())
    }

    /// Returns the plain token, to show once.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

/// Application with its new token, which is not stored and cannot be shown again.
pub struct IssuedApplication {
    /// The stored record.
    pub application: Application,
    /// Token of the application, shown once.
    pub token: AppToken,
}
