//! Address of the database, parsed from a line of the configuration.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Location of the data.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// File of the embedded database.
    Sqlite(PathBuf),
    /// Connection string of a PostgreSQL server.
    Postgres(String),
}

/// Error for a text that is no database address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the database URL must be `sqlite:PATH` or `postgres://USER@HOST/NAME`")]
pub struct InvalidDatabaseUrl;

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or_default();
        if path.is_empty() || path.starts_with(":memory:") {
            return Err(InvalidDatabaseUrl);
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

/// Formats the address without the password.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
                let (account, place) = rest.rsplit_once('@').unwrap_or(("", rest));
                let user = account.split(':').next().unwrap_or_default();
                let place = place.split('?').next().unwrap_or_default();
                if user.is_empty() {
                    write!(f, "{scheme}://{place}")
                } else {
                    write!(f, "{scheme}://{user}:***@{place}")
                }
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_decides() {
        assert_eq!("sqlite:./a.db".parse(), Ok(DatabaseUrl::Sqlite("./a.db".into())));
        assert!(matches!("postgres://u:p@h/d".parse(), Ok(DatabaseUrl::Postgres(_))));
        for text in ["a.db", "mysql://h/d", "sqlite:", "sqlite::memory:", ""] {
            assert_eq!(text.parse::<DatabaseUrl>(), Err(InvalidDatabaseUrl), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let url: DatabaseUrl = "postgres://shop:hunter2@db.internal/kontor?password=hunter2".parse().unwrap();
        assert_eq!(url.to_string(), "postgres://shop:***@db.internal/kontor");
        assert!(!format!("{url:?}").contains("hunter2"));
    }
}
