use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{
    AppScope, CounterpartyId, ExposeSecret, Line, Permission, ProjectId, Random, SecretCipher, SecretString, TextError,
    TokenId, UserId, wraps_text,
};

/// Presented bearer token, `<id>|<secret>`. Neither half authenticates alone.
#[derive(Debug)]
pub struct BearerToken {
    id: TokenId,
    secret: SecretString,
}

impl BearerToken {
    /// Maximum length that is parsed, in bytes.
    pub const MAX: usize = 256;

    /// Splits at the first `|`. Returns `None` for anything but canonical digits, the separator and a secret.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.split_once('|').filter(|_| text.len() <= Self::MAX)?;
        let digits = !id.starts_with('0') && id.bytes().all(|byte| byte.is_ascii_digit());
        let id = id.parse().ok().filter(|_| digits && !secret.is_empty())?;
        Some(Self { id: TokenId::new(id).ok()?, secret: secret.into() })
    }

    /// Returns the identifier of the claimed token.
    pub fn id(&self) -> TokenId {
        self.id
    }

    /// Returns `true` if the secret matches a stored fingerprint, compared in constant time.
    pub fn matches_fingerprint(&self, fingerprint: &str, cipher: &dyn SecretCipher) -> bool {
        cipher.same(&cipher.fingerprint(self.secret.expose_secret()), fingerprint)
    }
}

/// Secret half of a token to issue.
pub struct TokenSecret(SecretString);

impl TokenSecret {
    /// Generates 48 random letters and digits.
    pub fn generate(random: &dyn Random) -> Self {
        Self(random.alphanumeric(48).into())
    }

    /// Returns the stored form.
    pub fn fingerprint(&self, cipher: &dyn SecretCipher) -> String {
        cipher.fingerprint(self.0.expose_secret())
    }

    /// Returns the complete token for its owner.
    pub fn into_token(self, id: TokenId, expires_at: DateTime<Utc>) -> AccessToken {
        AccessToken { value: format!("{id}|{}", self.0.expose_secret()).into(), expires_at }
    }
}

/// Issued token (`access_token` of the login responses). It is returned once; only the fingerprint is stored.
#[derive(Debug)]
pub struct AccessToken {
    /// `<id>|<secret>`, sent as a whole as the Bearer token.
    pub value: SecretString,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
}

/// Stored fields of a token to issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// Device named by the customer.
    pub device: Option<Device>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
}

/// Validity of issued tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenLifetimes {
    /// Validity of employee tokens.
    pub staff: TimeDelta,
    /// Validity of customer tokens.
    pub customer: TimeDelta,
}

impl Default for TokenLifetimes {
    /// 30 days for employees, 365 days for customers.
    fn default() -> Self {
        Self { staff: TimeDelta::days(30), customer: TimeDelta::days(365) }
    }
}

/// Name of the device a customer logs in from: one line. It proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device(Line<255>);

/// Error: the text is not a device name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 3 to 50 characters")]
pub struct InvalidDevice;

impl Device {
    /// Parses the device of a login by code: trimmed, 3 to 50 characters.
    pub fn parse(text: &str) -> Result<Self, InvalidDevice> {
        let line = Line::parse(text).map_err(|_: TextError| InvalidDevice)?;
        if (3..=50).contains(&line.chars().count()) { Ok(Self(line)) } else { Err(InvalidDevice) }
    }

    /// Parses the device of the other login methods: at most 255 characters. White space only means no device.
    pub fn parse_optional(text: &str) -> Result<Option<Self>, TextError> {
        match Line::parse(text) {
            Ok(line) => Ok(Some(Self(line))),
            Err(TextError::Empty) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

wraps_text!(Device);

/// Stored token of an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredStaffToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
    /// Time of the last use, accurate to about a minute.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Employee.
    pub user_id: UserId,
    /// Project of the employee.
    pub project_id: ProjectId,
    /// `true` if the employee is banned.
    pub is_banned: bool,
    /// `true` if the owner is an agent.
    pub is_agent: bool,
    /// Permissions of the role.
    pub permissions: BTreeSet<Permission>,
    /// Upper bound of the token's permissions; `None` for all permissions of the role.
    pub abilities: Option<BTreeSet<Permission>>,
}

impl StoredStaffToken {
    /// Returns the permissions of a call with this token: never more than the role grants now, and for an agent none
    /// to decide about agents, even if its role has them.
    pub fn granted(self) -> BTreeSet<Permission> {
        let mut granted = match self.abilities {
            None => self.permissions,
            Some(abilities) => Permission::common(&self.permissions, &abilities),
        };
        if self.is_agent {
            granted.retain(|permission| permission.is_for_agents());
        }
        granted
    }
}

/// Stored token of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCustomerToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
    /// Customer.
    pub counterparty_id: CounterpartyId,
    /// Application the customer logged in to.
    pub app: AppScope,
    /// `true` if that application is active.
    pub app_is_active: bool,
    /// Time of the last use, accurate to about a minute.
    pub last_used_at: Option<DateTime<Utc>>,
}

/// Owner of a token. The kinds are distinct: an employee and a customer may have the same identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenOwner {
    /// Employee.
    Staff(UserId),
    /// Customer.
    Customer(CounterpartyId),
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::testing::{CountingRandom, PlainCipher};

    #[test]
    fn only_the_whole_value_is_a_token() {
        let token = BearerToken::parse("7|secret").unwrap();
        assert_eq!(token.id().get(), 7);
        assert!(token.matches_fingerprint("plain:secret", &PlainCipher));
        assert!(!token.matches_fingerprint("plain:other", &PlainCipher));
        let long = format!("7|{}", "s".repeat(255));
        for text in
            ["", "|", "7", "secret", "7|", "|secret", "a|s", "+7|s", "-7|s", " 7|s", "07|s", "0|s", "٧|s", &long]
        {
            assert!(BearerToken::parse(text).is_none(), "{text}");
        }
        assert!(BearerToken::parse("99999999999999999999|s").is_none());
    }

    #[test]
    fn an_issued_token_is_accepted_back() {
        let secret = TokenSecret::generate(&CountingRandom::new());
        let fingerprint = secret.fingerprint(&PlainCipher);
        let token = secret.into_token(TokenId::new(12).unwrap(), DateTime::UNIX_EPOCH);
        let presented = BearerToken::parse(token.value.expose_secret()).unwrap();
        assert_eq!(presented.id().get(), 12);
        assert!(presented.matches_fingerprint(&fingerprint, &PlainCipher));
        assert!(!format!("{token:?}{presented:?}").contains(presented.secret.expose_secret()));
    }

    #[test]
    fn a_device_has_three_to_fifty_characters() {
        assert!(Device::parse("Mi9").is_ok() && Device::parse(&"ё".repeat(50)).is_ok());
        for text in ["Mi", " Mi ", &"ё".repeat(51)] {
            assert_eq!(Device::parse(text), Err(InvalidDevice), "{text}");
        }
        assert_eq!(Device::parse_optional(" M ").unwrap().unwrap().as_str(), "M");
        assert_eq!(Device::parse_optional(" "), Ok(None));
        assert!(Device::parse_optional(&"ё".repeat(255)).is_ok() && Device::parse_optional(&"ё".repeat(256)).is_err());
    }
}
