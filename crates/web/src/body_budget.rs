//! Memory limit for the request bodies of all connections. When it is reached, the oldest incoming body is dropped.
//! Fast bodies finish early, so slow bodies displace only each other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Body that is still being received.
struct Incoming {
    bytes: usize,
    displaced: CancellationToken,
}

#[derive(Default)]
struct Held {
    /// Size of all bodies, incoming and complete.
    bytes: usize,
    next: u64,
    /// Incoming bodies, oldest first.
    incoming: BTreeMap<u64, Incoming>,
}

struct Shared {
    most: usize,
    held: Mutex<Held>,
}

impl Shared {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory budget of the process for request bodies.
#[derive(Clone)]
pub struct BodyBudget(Arc<Shared>);

/// Share of the budget that one body occupies until this is dropped.
#[must_use]
pub struct BodyShare {
    shared: Arc<Shared>,
    number: u64,
    displaced: CancellationToken,
    /// Size of the complete body; 0 while it is incoming.
    bytes: usize,
}

impl BodyBudget {
    /// Creates an empty budget of this many bytes.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Shared { most, held: Mutex::default() }))
    }

    /// Registers an incoming body.
    pub fn begin(&self) -> BodyShare {
        let displaced = CancellationToken::new();
        let mut held = self.0.held();
        let number = held.next;
        held.next += 1;
        held.incoming.insert(number, Incoming { bytes: 0, displaced: displaced.clone() });
        drop(held);
        BodyShare { shared: Arc::clone(&self.0), number, displaced, bytes: 0 }
    }

    /// Returns the bytes that bodies occupy now.
    pub fn bytes(&self) -> usize {
        self.0.held().bytes
    }
}

impl BodyShare {
    /// Takes more bytes. Returns `false` if this body was displaced; the caller must drop it.
    #[must_use]
    pub fn reserve(&self, bytes: usize) -> bool {
        let mut held = self.shared.held();
        while held.incoming.contains_key(&self.number) && held.bytes.saturating_add(bytes) > self.shared.most {
            let Some((_, oldest)) = held.incoming.pop_first() else { break };
            held.bytes = held.bytes.saturating_sub(oldest.bytes);
            oldest.displaced.cancel();
        }
        let Some(own) = held.incoming.get_mut(&self.number) else { return false };
        own.bytes = own.bytes.saturating_add(bytes);
        held.bytes = held.bytes.saturating_add(bytes);
        true
    }

    /// Completes when other bodies displace this one.
    pub async fn evicted(&self) {
        self.displaced.cancelled().await;
    }

    /// Marks the body as complete. It can no longer be displaced, and keeps its bytes until this is dropped.
    pub fn complete(mut self) -> Self {
        let own = self.shared.held().incoming.remove(&self.number);
        self.bytes += own.map_or(0, |own| own.bytes);
        self
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        let mut held = self.shared.held();
        let incoming = held.incoming.remove(&self.number).map_or(0, |own| own.bytes);
        held.bytes = held.bytes.saturating_sub(incoming + self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_body_that_began_first_gives_way() {
        let budget = BodyBudget::new(100);
        let (slow, slower, quick) = (budget.begin(), budget.begin(), budget.begin());
        assert!(slow.reserve(40) && slower.reserve(40));
        assert!(quick.reserve(60), "40 of the first are free for it");
        assert!(slow.displaced.is_cancelled() && !slower.displaced.is_cancelled());
        assert!(!slow.reserve(1), "it takes nothing more");
        assert_eq!(budget.bytes(), 100);
        drop(slow);
        assert_eq!(budget.bytes(), 100, "its bytes were given back when it was displaced");
        drop((slower, quick));
        assert_eq!(budget.bytes(), 0);
    }

    #[test]
    fn a_complete_body_keeps_its_bytes_and_is_not_displaced() {
        let budget = BodyBudget::new(100);
        let complete = budget.begin();
        assert!(complete.reserve(70));
        let complete = complete.complete();
        let next = budget.begin();
        assert!(next.reserve(30) && !next.reserve(1), "the next one would have to displace itself");
        assert!(!complete.displaced.is_cancelled());
        drop(complete);
        assert_eq!(budget.bytes(), 0);
        assert!(!budget.begin().reserve(101), "more than there is at all");
    }

    proptest! {
        #[test]
        fn never_more_than_the_budget_and_nothing_is_lost(steps in prop::collection::vec((0..4_u8, 0..8_usize, 0..60_usize), 1..200)) {
            let budget = BodyBudget::new(100);
            let mut shares: Vec<BodyShare> = Vec::new();
            for (step, at, bytes) in steps {
                match step {
                    0 => shares.push(budget.begin()),
                    1 if at < shares.len() => drop(shares.remove(at)),
                    2 if at < shares.len() => { let share = shares.remove(at).complete(); shares.push(share); }
                    _ if at < shares.len() => { let _ = shares[at].reserve(bytes); }
                    _ => {}
                }
                prop_assert!(budget.bytes() <= 100);
            }
            drop(shares);
            prop_assert_eq!(budget.bytes(), 0);
        }
    }
}
