//! Adapters of the kernel's ports on this machine.

mod html;
mod password;
mod rehearsed_gateway;
mod service_key;

use chrono::{DateTime, SubsecRound, Utc};
use kontor_kernel::{Clock, Random};
use ring::rand::SecureRandom;

pub use html::HtmlAllowList;
pub use password::Argon2Passwords;
pub use rehearsed_gateway::RehearsedGateway;
pub use service_key::ServiceKey;

/// Clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}

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
