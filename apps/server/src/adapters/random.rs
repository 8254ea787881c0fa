use kontor_kernel::Random;
use ring::rand::SecureRandom;

/// Random source of the operating system.
pub struct SystemRandom(ring::rand::SystemRandom);

impl SystemRandom {
    /// Opens the source.
    #[expect(clippy::disallowed_methods, reason = "the one place that opens the random source")]
    pub fn new() -> Self {
        Self(ring::rand::SystemRandom::new())
    }
}

impl Default for SystemRandom {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for SystemRandom {
    #[expect(clippy::expect_used, reason = "without randomness no secret can be made; going on would be worse")]
    fn fill(&self, bytes: &mut [u8]) {
        self.0.fill(bytes).expect("the operating system gives no random bytes");
    }
}
