//! PostgreSQL set-ups that run the same tests, selected by `TEST_POSTGRES_PROFILE`.

/// Set-up of the PostgreSQL of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// Default settings.
    Usual,
    /// Transactions are serializable by default, and five commits of a hundred fail.
    Serializable,
    /// Without the extensions that searches are indexed with.
    PlainSearch,
    /// Behind a pooler in transaction mode.
    Pgbouncer,
    /// With messages in Russian.
    Messages,
    /// PostgreSQL 18, which must be the first server of `PATH` or the given one.
    Postgres18,
}

impl Profile {
    /// Returns the profile that the environment selects.
    pub fn chosen() -> Self {
        let name = super::environment("TEST_POSTGRES_PROFILE");
        let known = match name.as_deref() {
            None => Ok(Self::Usual),
            Some("serializable") => Ok(Self::Serializable),
            Some("plain-search") => Ok(Self::PlainSearch),
            Some("pgbouncer") => Ok(Self::Pgbouncer),
            Some("messages") => Ok(Self::Messages),
            Some("postgres-18") => Ok(Self::Postgres18),
            Some(other) => Err(format!(
                "TEST_POSTGRES_PROFILE is `{other}` and not serializable, plain-search, pgbouncer, messages or \
                 postgres-18"
            )),
        };
        super::must(known)
    }

    /// Returns the settings of each fresh database.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Usual | Self::PlainSearch | Self::Messages | Self::Postgres18 => &[],
            Self::Serializable => &["default_transaction_isolation = 'serializable'"],
            // Settings that a session behind a pooler cannot keep.
            Self::Pgbouncer => &["statement_timeout = '30s'", "jit = off", "work_mem = '16MB'"],
        }
    }

    /// Returns how many commits of a hundred fail.
    pub fn refused_commits(self) -> u64 {
        if self == Self::Serializable { 5 } else { 0 }
    }
}
