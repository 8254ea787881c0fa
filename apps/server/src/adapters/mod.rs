//! The ports of the kernel on this machine.

mod clock;
mod keeper;
mod random;

pub use clock::SystemClock;
pub use keeper::ServiceKey;
pub use random::SystemRandom;
