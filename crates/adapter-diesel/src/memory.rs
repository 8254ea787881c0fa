//! Look-ups that most requests begin with, remembered in memory as long as nobody was shut out.

use std::hash::Hash;

use kontor_auth::model::StoredInquiry;
use kontor_kernel::{AppScope, ProjectId};
use quick_cache::sync::Cache;
use uuid::Uuid;

use crate::database::{Marks, Stand, Topic};

/// Applications that are remembered at most.
const MOST_APPLICATIONS: usize = 4_096;
/// Answers to backends that are remembered at most, at some 400 bytes each.
const MOST_INQUIRIES: usize = 20_000;

/// What is remembered of who is let in.
pub(crate) struct AccessMemory {
    /// Active applications by the fingerprint of their token.
    pub applications: Memory<String, AppScope>,
    /// Active tokens as active clients were told of them, by client and token.
    pub inquiries: Memory<(Uuid, i64), StoredInquiry>,
}

impl Default for AccessMemory {
    fn default() -> Self {
        Self { applications: Memory::new(MOST_APPLICATIONS), inquiries: Memory::new(MOST_INQUIRIES) }
    }
}

#[derive(Clone)]
struct Kept<V> {
    project: ProjectId,
    stand: Stand,
    value: V,
}

/// Values by their key, a bounded number.
pub(crate) struct Memory<K, V>(Cache<K, Kept<V>>);

impl<K: Eq + Hash, V: Clone> Memory<K, V> {
    fn new(most: usize) -> Self {
        Self(Cache::new(most))
    }

    /// What is remembered and still so.
    pub fn recall(&self, marks: &Marks, key: &K) -> Option<V> {
        let kept = self.0.get(key).filter(|_| marks.are_watched())?;
        (marks.stand(Topic::Access, kept.project) == Some(kept.stand)).then_some(kept.value)
    }

    /// Remembers what was read after `before` was taken, unless somebody was shut out meanwhile.
    pub fn keep(&self, marks: &Marks, before: Option<Stand>, project: ProjectId, key: K, value: &V) {
        let stand = marks.stand(Topic::Access, project);
        // The project is known only now: when nothing at all changed since, neither did it.
        if let (Some(stand), true) = (stand, before.is_some() && marks.stand_anywhere(Topic::Access) == before) {
            self.0.insert(key, Kept { project, stand, value: value.clone() });
        }
    }
}
