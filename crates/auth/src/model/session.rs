use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::ClientSessionId;

/// Maximum gap between two heartbeats of one session. After a longer gap, a new session starts.
pub const SESSION_BREAK: TimeDelta = TimeDelta::seconds(300);
/// Maximum time that counts between two heartbeats.
pub const MAX_COUNTED_GAP: TimeDelta = TimeDelta::seconds(180);
/// Time that a client waits before the next heartbeat.
pub const NEXT_HEARTBEAT: TimeDelta = TimeDelta::seconds(60);

/// Open session of a customer, from login or return to the last heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientSession {
    /// Identifier.
    pub id: ClientSessionId,
    /// Time of the start.
    pub started_at: DateTime<Utc>,
    /// Time of the last heartbeat.
    pub last_seen_at: DateTime<Utc>,
    /// Counted time, to the microsecond.
    pub duration: TimeDelta,
}

/// Effect of a heartbeat on a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeartbeatEffect {
    /// No effect: another heartbeat of the same or a later time was recorded.
    None,
    /// The session continues with these values.
    Continues(ClientSession),
    /// The session has ended and a new one starts.
    Restarts,
}

impl ClientSession {
    /// Returns the effect of a heartbeat at this time.
    pub fn step(&self, now: DateTime<Utc>) -> HeartbeatEffect {
        let gap = now - self.last_seen_at;
        if gap <= TimeDelta::zero() {
            HeartbeatEffect::None
        } else if gap > SESSION_BREAK {
            HeartbeatEffect::Restarts
        } else {
            let duration = self.duration + gap.min(MAX_COUNTED_GAP);
            HeartbeatEffect::Continues(Self { last_seen_at: now, duration, ..*self })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn session() -> ClientSession {
        let id = ClientSessionId::new(7).unwrap();
        ClientSession { id, started_at: START, last_seen_at: START, duration: TimeDelta::seconds(10) }
    }

    #[test]
    fn the_time_between_two_signs_counts_up_to_a_bound() {
        for (gap, counted) in [(1, 1), (60, 60), (179, 179), (180, 180), (181, 180), (299, 180), (300, 180)] {
            let now = START + TimeDelta::seconds(gap);
            let duration = TimeDelta::seconds(10 + counted);
            assert_eq!(
                session().step(now),
                HeartbeatEffect::Continues(ClientSession { last_seen_at: now, duration, ..session() })
            );
        }
    }

    #[test]
    fn after_the_break_a_new_session_starts() {
        assert_eq!(session().step(START + SESSION_BREAK + TimeDelta::microseconds(1)), HeartbeatEffect::Restarts);
        assert_eq!(session().step(START + TimeDelta::days(400)), HeartbeatEffect::Restarts);
    }

    #[test]
    fn session_time_is_not_counted_twice() {
        assert_eq!(session().step(START), HeartbeatEffect::None);
        assert_eq!(session().step(START - TimeDelta::seconds(1)), HeartbeatEffect::None);
    }

    #[test]
    fn parts_of_seconds_add_up() {
        let mut session = session();
        for tenth in 1..=100 {
            let HeartbeatEffect::Continues(next) = session.step(START + TimeDelta::milliseconds(100 * tenth)) else {
                panic!()
            };
            session = next;
        }
        assert_eq!(session.duration, TimeDelta::seconds(20));
    }
}
