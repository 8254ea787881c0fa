//! Cache of look-ups that most requests begin with. Entries are valid until an access is revoked.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use kontor_kernel::ProjectId;
use quick_cache::sync::Cache;

use super::{CacheVersion, CacheVersions, Topic};

#[derive(Clone)]
struct CacheEntry<V> {
    project: ProjectId,
    version: CacheVersion,
    value: V,
}

/// Bounded cache of values by key.
pub(crate) struct BoundedCache<K, V>(Cache<K, CacheEntry<V>>);

impl<K: Eq + Hash, V: Clone> BoundedCache<K, V> {
    /// Creates a cache with a maximum number of entries.
    pub fn new(most: usize) -> Self {
        Self(Cache::new(most))
    }

    /// Returns the cached value, if it is still valid.
    pub fn cached(&self, versions: &CacheVersions, key: &K) -> Option<V> {
        let kept = self.0.get(key).filter(|_| versions.are_watched())?;
        (versions.version(Topic::Access, kept.project) == Some(kept.version)).then_some(kept.value)
    }

    /// Caches a value that was read after `before` was taken, unless an access was revoked since.
    pub fn keep(&self, versions: &CacheVersions, before: Option<CacheVersion>, project: ProjectId, key: K, value: &V) {
        let version = versions.version(Topic::Access, project);
        // The project was not known before the read. If nothing changed in any project since, this one did not change
        // either.
        if let (Some(version), true) = (version, before.is_some() && versions.version_anywhere(Topic::Access) == before)
        {
            self.0.insert(key, CacheEntry { project, version, value: value.clone() });
        }
    }
}

/// Caches of the modules above, one per type.
#[derive(Default)]
pub(super) struct LookUpCaches(RwLock<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl LookUpCaches {
    /// Returns the cache of this type; created on first use.
    pub fn of<M: Any + Default + Send + Sync>(&self) -> Arc<M> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<M>()).cloned();
        let memory = known.unwrap_or_else(|| {
            let mut memories = self.0.write().unwrap_or_else(PoisonError::into_inner);
            memories.entry(TypeId::of::<M>()).or_insert_with(|| Arc::<M>::default()).clone()
        });
        memory.downcast().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_memory_of_each_type() {
        let memories = LookUpCaches::default();
        let one: Arc<RwLock<u8>> = memories.of();
        *one.write().unwrap() = 7;
        assert_eq!(*memories.of::<RwLock<u8>>().read().unwrap(), 7);
        assert_eq!(*memories.of::<RwLock<u16>>().read().unwrap(), 0);
    }
}
