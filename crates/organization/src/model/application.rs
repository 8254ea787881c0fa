use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, BranchId, ExposeSecret, Link, Name, Random, SecretCipher, SecretString};

/// Site, app or service of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Identifier of the application.
    pub id: ApplicationId,
    /// Fields entered by staff.
    pub details: ApplicationDraft,
    /// `true` if its App Token is accepted.
    pub is_active: bool,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// Fields of an application that staff enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationDraft {
    /// Branch that runs it.
    pub branch_id: BranchId,
    /// Name.
    pub name: Name,
    /// URL.
    pub url: Option<Link>,
    /// `true` if it sells wholesale.
    pub wholesale: bool,
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

/// New application with its token, which is not stored and cannot be shown again.
pub struct IssuedApplication {
    /// The stored record.
    pub application: Application,
    /// Its token.
    pub token: AppToken,
}
