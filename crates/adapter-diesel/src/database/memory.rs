//! Look-ups that most requests begin with, remembered in memory as long as nobody was shut out.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use kontor_kernel::ProjectId;
use quick_cache::sync::Cache;

use super::{CacheVersion, CacheVersions, Topic};

#[derive(Clone)]
struct Kept<V> {
    project: ProjectId,
    version: CacheVersion,
    value: V,
}

/// Values by their key, a bounded number.
pub(crate) struct Memory<K, V>(Cache<K, Kept<V>>);

impl<K: Eq + Hash, V: Clone> Memory<K, V> {
    /// Room for so many.
    pub fn new(most: usize) -> Self {
        Self(Cache::new(most))
    }

    /// What is remembered and still so.
    pub fn recall(&self, versions: &CacheVersions, key: &K) -> Option<V> {
        let kept = self.0.get(key).filter(|_| versions.are_watched())?;
        (versions.version(Topic::Access, kept.project) == Some(kept.version)).then_some(kept.value)
    }

    /// Remembers what was read after `before` was taken, unless somebody was shut out meanwhile.
    pub fn keep(&self, versions: &CacheVersions, before: Option<CacheVersion>, project: ProjectId, key: K, value: &V) {
        let version = versions.version(Topic::Access, project);
        // The project is known only now: when nothing at all changed since, neither did it.
        if let (Some(version), true) = (version, before.is_some() && versions.version_anywhere(Topic::Access) == before)
        {
            self.0.insert(key, Kept { project, version, value: value.clone() });
        }
    }
}

/// The memories of the modules above, one of each type.
#[derive(Default)]
pub(super) struct Memories(RwLock<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Memories {
    /// The memory of this type; made when it is asked for first.
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
        let memories = Memories::default();
        let one: Arc<RwLock<u8>> = memories.of();
        *one.write().unwrap() = 7;
        assert_eq!(*memories.of::<RwLock<u8>>().read().unwrap(), 7);
        assert_eq!(*memories.of::<RwLock<u16>>().read().unwrap(), 0);
    }
}
