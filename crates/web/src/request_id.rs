//! Identifiers of requests.

use std::cell::Cell;
use std::sync::Arc;

use kontor_kernel::Random;
use uuid::{Builder, Uuid};

/// Identifier of a request, stored in its extensions.
pub struct RequestId(pub String);

/// Source of identifiers for one HTTP thread. It reads randomness for many identifiers from the operating system at
/// once.
pub struct RequestIds {
    random: Arc<dyn Random>,
    drawn: Cell<Vec<[u8; 16]>>,
}

impl RequestIds {
    /// Creates a source without reading randomness yet.
    pub fn new(random: Arc<dyn Random>) -> Self {
        Self { random, drawn: Cell::default() }
    }

    /// Returns a new random UUID (version 4).
    pub fn next(&self) -> Uuid {
        let mut drawn = self.drawn.take();
        let bytes = drawn.pop().unwrap_or_else(|| {
            let mut block = [[0; 16]; 64];
            self.random.fill(block.as_flattened_mut());
            drawn.extend(block);
            drawn.pop().unwrap_or_default()
        });
        self.drawn.set(drawn);
        Builder::from_random_bytes(bytes).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Numbers every sixteen bytes.
    struct Counting(AtomicU64);

    impl Random for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for block in bytes.chunks_mut(16) {
                let number = self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes();
                block.iter_mut().zip(number).for_each(|(byte, digit)| *byte = digit);
            }
        }
    }

    #[test]
    fn no_identifier_comes_twice() {
        let ids = RequestIds::new(Arc::new(Counting(AtomicU64::new(0))));
        let drawn: HashSet<Uuid> = (0..200).map(|_| ids.next()).collect();
        assert_eq!(drawn.len(), 200);
        assert!(drawn.iter().all(|id| id.get_version_num() == 4));
    }
}
