//! The identifiers and codes that the emulated providers choose.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::rand::SecureRandom as _;

/// Fills a buffer with random bytes.
pub type Entropy = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

/// The operating system's randomness.
#[expect(
    clippy::disallowed_methods,
    reason = "the sandbox is itself an outside world: its providers choose their own ids"
)]
pub fn system_entropy() -> Entropy {
    let random = ring::rand::SystemRandom::new();
    Arc::new(move |buffer| {
        if random.fill(buffer).is_err() {
            tracing::error!("the operating system gave no random bytes");
        }
    })
}

/// Draws identifiers and codes from an [`Entropy`].
pub struct Chance {
    entropy: Entropy,
    drawn: AtomicU64,
}

impl Chance {
    pub fn new(entropy: Entropy) -> Self {
        Self { entropy, drawn: AtomicU64::new(0) }
    }

    /// An identifier of 36 characters, like the acquirer's. Distinct even when the entropy repeats itself.
    pub fn id(&self) -> String {
        let mut bytes = [0; 16];
        (self.entropy)(&mut bytes);
        let number = self.number().to_le_bytes();
        for (byte, mixed) in bytes.iter_mut().rev().zip(number) {
            *byte ^= mixed;
        }
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// A code of `length` decimal digits, leading zeros kept.
    pub fn digits(&self, length: usize) -> String {
        let mut bytes = vec![0; length];
        (self.entropy)(&mut bytes);
        bytes.into_iter().fold(String::with_capacity(length), |mut code, byte| {
            let _ = write!(code, "{}", byte % 10);
            code
        })
    }

    /// A running number: 0, 1, 2...
    pub fn number(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_differ_even_without_entropy() {
        let chance = Chance::new(Arc::new(|buffer: &mut [u8]| buffer.fill(7)));
        let (one, two) = (chance.id(), chance.id());
        assert_ne!(one, two);
        assert_eq!(one.len(), 36);
        assert_eq!(chance.digits(4), "7777");
    }
}
