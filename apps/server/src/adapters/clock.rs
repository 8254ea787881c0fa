use chrono::{DateTime, SubsecRound, Utc};
use kontor_kernel::Clock;

/// Clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}
