//! Sessions, in memory: a restart logs every customer out.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom as _, SystemRandom};

const LIFETIME: Duration = Duration::from_hours(12);
const MAX_SESSIONS: usize = 10_000;

/// Sessions by their identifiers.
pub struct Sessions {
    random: SystemRandom,
    open: Mutex<HashMap<String, Session>>,
}

struct Session {
    token: String,
    until: Instant,
}

impl Default for Sessions {
    #[expect(clippy::disallowed_methods, reason = "an example has no ports")]
    fn default() -> Self {
        Self { random: SystemRandom::new(), open: Mutex::default() }
    }
}

impl Sessions {
    fn open_ones(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        open.retain(|_, session| session.until > now);
        open
    }

    /// Stores a token and returns the session identifier for the browser. `None` when there are too many sessions.
    pub fn open(&self, token: String) -> Option<String> {
        let mut bytes = [0_u8; 32];
        self.random.fill(&mut bytes).ok()?;
        let id = bytes.iter().fold(String::new(), |mut id, byte| {
            let _ = write!(id, "{byte:02x}");
            id
        });
        let mut open = self.open_ones();
        (open.len() < MAX_SESSIONS)
            .then(|| open.insert(id.clone(), Session { token, until: Instant::now() + LIFETIME }))?;
        Some(id)
    }

    /// Returns the token of an open session.
    pub fn token(&self, id: &str) -> Option<String> {
        self.open_ones().get(id).map(|session| session.token.clone())
    }

    /// Ends a session and returns its token.
    pub fn close(&self, id: &str) -> Option<String> {
        self.open_ones().remove(id).map(|session| session.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_opens_until_it_is_closed() {
        let sessions = Sessions::default();
        let (one, other) = (sessions.open("1|a".to_owned()).unwrap(), sessions.open("2|b".to_owned()).unwrap());
        assert!(one != other && one.len() == 64 && !one.contains('|'));
        assert_eq!(sessions.token(&one).as_deref(), Some("1|a"));
        assert_eq!(sessions.token("1|a"), None);
        assert_eq!((sessions.close(&one).as_deref(), sessions.token(&one)), (Some("1|a"), None));
        assert_eq!(sessions.token(&other).as_deref(), Some("2|b"));
    }
}
