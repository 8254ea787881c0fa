//! Adapters of the kernel's ports on this machine.

mod clock;
mod html;
mod password;
mod random;
mod service_key;
mod uploads;

pub use clock::SystemClock;
pub use html::HtmlAllowList;
pub use password::Argon2Passwords;
pub use random::SystemRandom;
pub use service_key::ServiceKey;
pub use uploads::FolderUploads;
