use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{Clock, CustomerScope, StoreError};

use crate::HeartbeatError;
use crate::model::{ClientSession, HeartbeatEffect};
use crate::ports::{ClientSessions, SessionStart};

/// Maximum attempts to store a heartbeat when other heartbeats of the same token interfere. After that the storage
/// counts as overloaded.
const MAX_ATTEMPTS: usize = 16;

/// Session after a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// Current session.
    pub session: ClientSession,
    /// Time of the heartbeat.
    pub taken_at: DateTime<Utc>,
}

/// Heartbeats of customers.
pub struct Heartbeats {
    /// Storage of sessions.
    pub sessions: Arc<dyn ClientSessions>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl Heartbeats {
    /// Records a heartbeat: continues the session of the token or starts a new one.
    pub async fn record(&self, customer: CustomerScope) -> Result<Heartbeat, HeartbeatError> {
        let taken_at = self.clock.now();
        for _ in 0..MAX_ATTEMPTS {
            let current = self.sessions.current(customer.token_id).await?;
            let session = match current.map(|session| (session, session.step(taken_at))) {
                Some((session, HeartbeatEffect::None)) => Some(session),
                Some((session, HeartbeatEffect::Continues(next))) => {
                    self.sessions.continue_session(next, session.last_seen_at).await?.then_some(next)
                }
                Some((_, HeartbeatEffect::Restarts)) | None => {
                    match self.sessions.start(customer, current, taken_at).await? {
                        SessionStart::Started(session) => Some(session),
                        SessionStart::Superseded => None,
                        SessionStart::SignedOut => return Err(HeartbeatError::SignedOut),
                    }
                }
            };
            if let Some(session) = session {
                return Ok(Heartbeat { session, taken_at });
            }
        }
        Err(StoreError::Unavailable("too many concurrent requests update the session".to_owned()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockClientSessions;
    use chrono::TimeDelta;
    use kontor_kernel::testing::{app_scope, customer_scope};
    use kontor_kernel::{ClientSessionId, FixedClock};

    const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn customer() -> CustomerScope {
        customer_scope(app_scope(2, 8))
    }

    fn session(id: i64, seconds: i64) -> ClientSession {
        let id = ClientSessionId::new(id).unwrap();
        let last_seen_at = START + TimeDelta::seconds(seconds);
        ClientSession { id, started_at: START, last_seen_at, duration: TimeDelta::seconds(seconds) }
    }

    async fn record(sessions: MockClientSessions, seconds: i64) -> Result<ClientSession, HeartbeatError> {
        let clock = Arc::new(FixedClock::at(START + TimeDelta::seconds(seconds)));
        let heartbeats = Heartbeats { sessions: Arc::new(sessions), clock };
        heartbeats.record(customer()).await.map(|heartbeat| heartbeat.session)
    }

    #[tokio::test]
    async fn a_session_goes_on() {
        let mut sessions = MockClientSessions::new();
        sessions.expect_current().once().returning(|_| Ok(Some(session(7, 0))));
        sessions
            .expect_continue_session()
            .withf(|next, seen_at| *next == session(7, 60) && *seen_at == START)
            .once()
            .returning(|_, _| Ok(true));
        assert_eq!(record(sessions, 60).await.unwrap(), session(7, 60));
    }

    #[tokio::test]
    async fn a_conflicting_heartbeat_is_retried() {
        let mut sessions = MockClientSessions::new();
        sessions.expect_current().once().returning(|_| Ok(Some(session(7, 0))));
        sessions.expect_continue_session().once().returning(|_, _| Ok(false));
        sessions.expect_current().once().returning(|_| Ok(Some(session(7, 60))));
        assert_eq!(record(sessions, 60).await.unwrap(), session(7, 60));
    }

    #[tokio::test]
    async fn after_a_break_and_without_a_session_one_starts() {
        for before in [None, Some(session(7, 0))] {
            let mut sessions = MockClientSessions::new();
            sessions.expect_current().returning(move |_| Ok(before));
            sessions.expect_start().withf(move |_, closed, _| *closed == before).once().returning(|_, _, at| {
                let id = ClientSessionId::new(8).unwrap();
                let session = ClientSession { id, started_at: at, last_seen_at: at, duration: TimeDelta::zero() };
                Ok(SessionStart::Started(session))
            });
            assert_eq!(record(sessions, 301).await.unwrap().id.get(), 8);
        }
    }

    #[tokio::test]
    async fn heartbeats_give_up_after_max_attempts_and_refuse_revoked_tokens() {
        let mut sessions = MockClientSessions::new();
        sessions.expect_current().returning(|_| Ok(None));
        sessions.expect_start().returning(|_, _, _| Ok(SessionStart::Superseded));
        assert!(matches!(record(sessions, 1).await, Err(HeartbeatError::Store(StoreError::Unavailable(_)))));
        let mut sessions = MockClientSessions::new();
        sessions.expect_current().returning(|_| Ok(None));
        sessions.expect_start().returning(|_, _, _| Ok(SessionStart::SignedOut));
        assert!(matches!(record(sessions, 1).await, Err(HeartbeatError::SignedOut)));
    }
}
