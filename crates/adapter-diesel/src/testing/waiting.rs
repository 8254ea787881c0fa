//! Waits for what other tasks and processes do.

use std::time::{Duration, Instant};

/// Pause between two checks.
pub const MOMENT: Duration = Duration::from_millis(10);

/// Waits between two checks, for [`retry_until`](crate::retry_until).
pub async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Waits a moment between two checks.
pub async fn moment() {
    pause(MOMENT).await;
}

/// Waits a moment, or the time after `every`, before a loop checks its condition again. After the time `until` it
/// panics with the message.
///
/// ```text
/// let until = Instant::now() + PATIENCE;
/// while files() > 1 {
///     retry_until!(until, "{} files are left", files());
/// }
/// ```
#[macro_export]
macro_rules! retry_until {
    ($until:expr, every $pause:expr, $($message:tt)+) => {{
        assert!(std::time::Instant::now() < $until, $($message)+);
        $crate::testing::pause($pause).await;
    }};
    ($until:expr, $($message:tt)+) => {
        $crate::retry_until!($until, every $crate::testing::MOMENT, $($message)+)
    };
}

/// Checks a condition repeatedly for this time.
///
/// # Panics
/// If it does not hold once.
pub async fn stays(time: Duration, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        assert!(holds().await, "{what}");
        moment().await;
    }
    assert!(holds().await, "{what}");
}

/// Waits until a condition holds within this time, and checks that it stays so until the end of the time.
///
/// # Panics
/// If it does not.
pub async fn settles(time: Duration, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + time;
    while !holds().await {
        retry_until!(until, "{what}");
    }
    stays(until.saturating_duration_since(Instant::now()), what, holds).await;
}
