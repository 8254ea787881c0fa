use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, BranchId, ExposeSecret, Link, Name, Random, SecretCipher, SecretString};

/// One site, app or service inside a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// The number of the application.
    pub id: ApplicationId,
    /// What it is.
    pub details: ApplicationDraft,
    /// Whether its App Token is accepted.
    pub is_active: bool,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What staff say about an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationDraft {
    /// The branch that runs it.
    pub branch_id: BranchId,
    /// Its name.
    pub name: Name,
    /// Where it is found.
    pub url: Option<Link>,
    /// Whether it sells wholesale.
    pub wholesale: bool,
}

/// The secret that names an application in the header `Token`.
pub struct AppToken(SecretString);

impl AppToken {
    /// 48 random letters and digits.
    pub fn generate(random: &dyn Random) -> Self {
        Self(random.alphanumeric(48).into())
    }

    /// The form that is stored.
    pub fn fingerprint(&self, cipher: &dyn SecretCipher) -> String {
        cipher.fingerprint(self.0.expose_secret())
    }

    /// The token itself, to be shown once.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

/// A new application with its token, which is not kept and cannot be shown again.
pub struct IssuedApplication {
    /// The stored record.
    pub application: Application,
    /// Its token.
    pub token: AppToken,
}
