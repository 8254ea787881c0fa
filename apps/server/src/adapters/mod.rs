//! The ports of the kernel on this machine.

mod clock;
mod html;
mod keeper;
mod password;
mod random;
mod uploads;

pub use clock::SystemClock;
pub use html::HtmlAllowList;
pub use keeper::ServiceKey;
pub use password::Argon2Passwords;
pub use random::SystemRandom;
pub use uploads::FolderUploads;
