//! Test doubles for unit tests of business rules, and the base of storage in memory, behind the feature `testing`.

pub mod memory;

use std::sync::{Mutex, PoisonError};

use crate::{
    AppScope, ApplicationId, CounterpartyId, CustomerScope, Permission, ProjectId, Random, SecretCipher, SecretString,
    Staff, TokenId, UnsealError, UserId,
};

/// Predictable source of bytes: each byte is one more than the previous one.
pub struct CountingRandom(std::sync::atomic::AtomicU8);

impl CountingRandom {
    /// Starts at zero.
    pub const fn new() -> Self {
        Self(std::sync::atomic::AtomicU8::new(0))
    }
}

impl Default for CountingRandom {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for CountingRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

/// Reproducible pseudo-random numbers from a seed (`SplitMix64`).
#[derive(Debug, Clone)]
pub struct TestRng(u64);

impl TestRng {
    /// Creates a generator from a seed. The same seed gives the same numbers.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns any number.
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to below the bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.throw().checked_rem(bound).unwrap_or_default()
    }

    /// Returns `true` with this chance in percent.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// Returns one of these values; `None` if there are none.
    pub fn one_of<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        let bound = u64::try_from(all.len()).ok().filter(|count| *count > 0)?;
        all.get(usize::try_from(self.below(bound)).ok()?).cloned()
    }

    /// Creates an independent generator from this one.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self(self.throw())
    }
}

/// Reproducible source of bytes from a seed.
pub struct SeededRandom(Mutex<TestRng>);

impl SeededRandom {
    /// Creates a source. The same generator gives the same bytes.
    pub const fn new(rng: TestRng) -> Self {
        Self(Mutex::new(rng))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            chunk.iter_mut().zip(rng.throw().to_le_bytes()).for_each(|(byte, drawn)| *byte = drawn);
        }
    }
}

/// Keeps secrets in plain text, so that a test can see the stored values.
pub struct PlainCipher;

impl SecretCipher for PlainCipher {
    fn fingerprint(&self, secret: &str) -> String {
        format!("plain:{secret}")
    }

    fn keyed_fingerprint(&self, context: &str, secret: &str) -> String {
        format!("plain:{context}:{secret}")
    }

    fn same(&self, left: &str, right: &str) -> bool {
        left == right
    }

    fn seal(&self, secret: &SecretString) -> String {
        format!("sealed:{}", crate::ExposeSecret::expose_secret(secret))
    }

    fn open(&self, sealed: &str) -> Result<SecretString, UnsealError> {
        sealed.strip_prefix("sealed:").map(SecretString::from).ok_or(UnsealError)
    }
}

/// Returns an employee of project 1 with these permissions.
///
/// # Panics
/// Never: the identifiers are valid.
#[expect(clippy::expect_used, reason = "constant identifiers")]
pub fn staff_with(permissions: impl IntoIterator<Item = Permission>) -> Staff {
    Staff {
        project_id: ProjectId::new(1).expect("valid"),
        user_id: UserId::new(1).expect("valid"),
        token_id: TokenId::new(1).expect("valid"),
        is_agent: false,
        permissions: permissions.into_iter().collect(),
    }
}

/// Returns the scope of this application of this project, which sells at retail.
///
/// # Panics
/// If a number is not positive.
#[expect(clippy::expect_used, reason = "constant identifiers")]
pub fn app_scope(project: i64, application: i64) -> AppScope {
    AppScope {
        project_id: ProjectId::new(project).expect("valid"),
        application_id: ApplicationId::new(application).expect("valid"),
        wholesale: false,
    }
}

/// Returns the scope of customer 4, logged in to an application with token 5.
///
/// # Panics
/// Never: the identifiers are valid.
#[expect(clippy::expect_used, reason = "constant identifiers")]
pub fn customer_scope(app: AppScope) -> CustomerScope {
    CustomerScope {
        app,
        counterparty_id: CounterpartyId::new(4).expect("valid"),
        token_id: TokenId::new(5).expect("valid"),
    }
}
