//! The ports of the kernel on this machine.

mod clock;
mod keeper;
mod password;
mod random;

pub use clock::SystemClock;
pub use keeper::ServiceKey;
pub use password::Argon2Passwords;
pub use random::SystemRandom;
