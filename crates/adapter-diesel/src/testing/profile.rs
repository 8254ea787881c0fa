//! PostgreSQL as others run it, for the same tests: `TEST_POSTGRES_PROFILE` says how.

/// How the tests' PostgreSQL is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// As it comes.
    Usual,
    /// Every transaction is serializable unless told otherwise, and five commits of a hundred are refused.
    Serializable,
    /// Without the extensions that searches are indexed with.
    PlainSearch,
    /// Behind a pooler that hands connections on between transactions.
    Pgbouncer,
    /// With messages in Russian.
    Messages,
}

impl Profile {
    /// What the environment asks for.
    pub fn chosen() -> Self {
        let name = super::environment("TEST_POSTGRES_PROFILE");
        let known = match name.as_deref() {
            None => Ok(Self::Usual),
            Some("serializable") => Ok(Self::Serializable),
            Some("plain-search") => Ok(Self::PlainSearch),
            Some("pgbouncer") => Ok(Self::Pgbouncer),
            Some("messages") => Ok(Self::Messages),
            Some(other) => Err(format!(
                "TEST_POSTGRES_PROFILE is `{other}` and not serializable, plain-search, pgbouncer or messages"
            )),
        };
        super::must(known)
    }

    /// The settings of each fresh database.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Usual | Self::PlainSearch | Self::Messages => &[],
            Self::Serializable => &["default_transaction_isolation = 'serializable'"],
            // What a session behind a pooler cannot keep.
            Self::Pgbouncer => &["statement_timeout = '30s'", "jit = off", "work_mem = '16MB'"],
        }
    }

    /// How many commits of a hundred are refused.
    pub fn refused_commits(self) -> u64 {
        if self == Self::Serializable { 5 } else { 0 }
    }
}
