//! Queue for password checks. Its length and waiting time are bounded, also per address, so that no address can occupy
//! all places. Some places are reserved for addresses from which the employee has logged in before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kontor_kernel::Quota;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::ApiError;

/// Time after which a rejected caller may retry: by then the queue has moved on.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Size of the queue.
#[derive(Debug, Clone, Copy)]
pub struct QueueBounds {
    /// Number of passwords checked at the same time.
    pub at_once: usize,
    /// Maximum number of callers that wait or are being checked.
    pub places: u32,
    /// Maximum number of these places for one address.
    pub places_per_address: u32,
    /// Places reserved for addresses from which the employee has logged in before.
    pub kept_places: u32,
    /// Maximum waiting time.
    pub patience: Duration,
}

impl QueueBounds {
    /// Returns bounds for this many cores, with which a full queue is processed within seconds.
    pub fn of_cores(cores: usize) -> Self {
        let places = u32::try_from(cores.saturating_mul(16)).unwrap_or(u32::MAX).max(32);
        let quarter = places / 4;
        let patience = Duration::from_secs(10);
        Self { at_once: cores.max(1), places, places_per_address: quarter, kept_places: quarter, patience }
    }
}

#[derive(Default)]
struct QueueState {
    taken: u32,
    by_address: HashMap<String, u32>,
}

struct Shared {
    bounds: QueueBounds,
    permits: Arc<Semaphore>,
    places: Mutex<QueueState>,
}

impl Shared {
    fn places(&self) -> MutexGuard<'_, QueueState> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Password queue of the process.
pub struct PasswordQueue(Arc<Shared>);

/// Place in the queue, released on drop.
#[must_use]
pub struct QueueSlot {
    shared: Arc<Shared>,
    address: String,
}

/// Permit to check a password, released on drop.
#[must_use]
pub struct Permit {
    _permit: OwnedSemaphorePermit,
    _place: QueueSlot,
}

impl PasswordQueue {
    /// Creates an empty queue.
    pub fn new(bounds: QueueBounds) -> Self {
        let permits = Arc::new(Semaphore::new(bounds.at_once));
        Self(Arc::new(Shared { bounds, permits, places: Mutex::default() }))
    }

    /// Takes a place for an address: `429` if the address has used its share, `503` if the queue is full. An address is
    /// known if the employee has logged in from it before.
    pub fn place(&self, address: String, is_known: bool) -> Result<QueueSlot, ApiError> {
        let bounds = self.0.bounds;
        let mut places = self.0.places();
        let held = places.by_address.get(&address).copied().unwrap_or_default();
        if held >= bounds.places_per_address {
            let limit = bounds.places_per_address;
            return Err(ApiError::Throttled(Quota { allowed: false, limit, remaining: 0, resets_in: RETRY_AFTER }));
        }
        let kept = if is_known { 0 } else { bounds.kept_places };
        if places.taken >= bounds.places.saturating_sub(kept) {
            return Err(ApiError::Overloaded(RETRY_AFTER));
        }
        places.taken += 1;
        places.by_address.insert(address.clone(), held + 1);
        drop(places);
        Ok(QueueSlot { shared: Arc::clone(&self.0), address })
    }
}

impl QueueSlot {
    /// Waits for a permit in order of arrival: `503` if it takes too long.
    pub async fn acquire(self) -> Result<Permit, ApiError> {
        let permits = Arc::clone(&self.shared.permits);
        match timeout(self.shared.bounds.patience, permits.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Permit { _permit: permit, _place: self }),
            Ok(Err(closed)) => Err(ApiError::internal(&closed)),
            Err(_) => Err(ApiError::Overloaded(RETRY_AFTER)),
        }
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        let mut places = self.shared.places();
        places.taken = places.taken.saturating_sub(1);
        match places.by_address.get_mut(&self.address) {
            Some(held) if *held > 1 => *held -= 1,
            _ => {
                places.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue_with(patience: Duration) -> PasswordQueue {
        PasswordQueue::new(QueueBounds { at_once: 1, places: 4, places_per_address: 2, kept_places: 0, patience })
    }

    fn queue() -> PasswordQueue {
        queue_with(Duration::from_mins(1))
    }

    fn refusal(place: Result<QueueSlot, ApiError>) -> &'static str {
        match place {
            Ok(_) => "none",
            Err(ApiError::Throttled(quota)) if quota.limit == 2 && quota.remaining == 0 => "address",
            Err(ApiError::Overloaded(wait)) if wait == RETRY_AFTER => "full",
            Err(other) => panic!("{other}"),
        }
    }

    #[tokio::test]
    async fn one_address_takes_its_share_and_another_comes_next() {
        let queue = queue();
        let place = |address: &str| queue.place(address.to_owned(), false);
        let (first, second) = (place("a").unwrap().acquire().await.unwrap(), place("a").unwrap());
        for _ in 0..100 {
            assert_eq!(refusal(place("a")), "address");
        }
        let other = place("b").unwrap();
        drop(second);
        drop(first);
        assert!(other.acquire().await.is_ok());
        assert_eq!(refusal(place("a")), "none", "a place that is left is free");
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_drops_disconnected_callers() {
        let queue = queue();
        let place = |address: &str| queue.place(address.to_owned(), false);
        let taken: Vec<_> = ["a", "a", "b", "c"].map(|address| place(address).unwrap()).into();
        assert_eq!((refusal(place("d")), refusal(place("a"))), ("full", "address"));
        drop(taken);
        let places = queue.0.places();
        assert_eq!((places.taken, places.by_address.len()), (0, 0));
    }

    #[tokio::test]
    async fn no_request_waits_forever() {
        let queue = queue_with(Duration::ZERO);
        let _working = queue.place("a".to_owned(), false).unwrap().acquire().await.unwrap();
        let waiting = queue.place("b".to_owned(), false).unwrap().acquire().await;
        assert!(matches!(waiting, Err(ApiError::Overloaded(_))));
        assert_eq!(queue.0.places().taken, 1);
    }

    #[tokio::test]
    async fn unknown_addresses_leave_places_for_known_addresses() {
        let bounds = QueueBounds { kept_places: 2, ..queue().0.bounds };
        let queue = PasswordQueue::new(bounds);
        let place = |address: &str, is_known| queue.place(address.to_owned(), is_known);
        let outsiders = [place("a", false).unwrap(), place("b", false).unwrap()];
        assert_eq!((refusal(place("c", false)), refusal(place("d", false))), ("full", "full"));
        let known = place("office", true).unwrap();
        assert!(place("home", true).is_ok());
        assert_eq!(refusal(place("office", true)), "none", "the other one has left");
        let all = [known, place("home", true).unwrap()];
        assert_eq!((refusal(place("cafe", true)), refusal(place("c", false))), ("full", "full"));
        drop((outsiders, all));
        assert_eq!(refusal(place("c", false)), "none");
    }

    #[test]
    fn every_machine_lets_several_addresses_in() {
        for cores in [0, 1, 2, 64, usize::MAX] {
            let bounds = QueueBounds::of_cores(cores);
            assert!(bounds.at_once > 0 && bounds.places_per_address >= 8, "{bounds:?}");
            assert!(bounds.places / 4 >= bounds.places_per_address, "{bounds:?}");
            assert!(bounds.kept_places >= 8 && bounds.places / 4 >= bounds.kept_places, "{bounds:?}");
        }
    }
}
