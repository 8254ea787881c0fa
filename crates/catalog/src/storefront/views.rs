use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kontor_kernel::NomenclatureId;

/// Views that are counted but not stored yet. Holds one entry per product looked at since the last time they were
/// stored.
#[derive(Default)]
pub(super) struct PendingViews(Mutex<HashMap<NomenclatureId, u64>>);

impl PendingViews {
    /// Counts one view. Returns the views of the product that are not stored yet.
    pub fn add(&self, product: NomenclatureId) -> u64 {
        let mut counts = self.counts();
        let count = counts.entry(product).or_default();
        *count += 1;
        *count
    }

    /// Views of a product that are not stored yet.
    pub fn of(&self, product: NomenclatureId) -> u64 {
        self.counts().get(&product).copied().unwrap_or_default()
    }

    /// Everything that is to be stored, in the order of the products, in which every process writes them.
    pub fn snapshot(&self) -> Vec<(NomenclatureId, u64)> {
        let mut views: Vec<_> = self.counts().iter().map(|(product, count)| (*product, *count)).collect();
        views.sort_unstable();
        views
    }

    /// Forgets what was stored; views counted meanwhile stay.
    pub fn stored(&self, views: &[(NomenclatureId, u64)]) {
        let mut counts = self.counts();
        for (product, stored) in views {
            if let Some(count) = counts.get_mut(product) {
                *count = count.saturating_sub(*stored);
                if *count == 0 {
                    counts.remove(product);
                }
            }
        }
    }

    /// Counters stay usable after a panic elsewhere: every step leaves them whole.
    fn counts(&self) -> MutexGuard<'_, HashMap<NomenclatureId, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
