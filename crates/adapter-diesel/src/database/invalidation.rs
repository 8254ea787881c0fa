//! Cache invalidation: how a process knows that its cached data is still valid; and the cache of the look-ups that most
//! requests begin with, whose entries are valid until an access is revoked.
//!
//! A write operation that changes cached data *invalidates* its topic ([`AnyConnection::invalidate`]). Its commit raises
//! a counter in the database for other processes, and advances the [`CacheVersion`] of the topic and project in this
//! process. A version is taken before reading, and the data is valid while the version is unchanged.
//!
//! While a commit is in progress there is no version, so nothing that the commit may change is cached or served. In the
//! writing process a response is never older than the last commit. Other processes read the counters ([`super::watch`])
//! twice a second. They stop using their caches when the last successful read is more than a second old.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use kontor_kernel::{ProjectId, StoreError};
use quick_cache::sync::Cache;

use super::{Abort, AnyConnection};
use crate::statement::Statement;

/// Group of cached data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Everything a storefront shows: items, offers, stock, prices, discounts, plans, categories, brands, tags,
    /// pictures, content pages, blocks, menus, shops.
    Storefront,
    /// View counts of products. They change every few seconds, and most of the cached data does not depend on them.
    Views,
    /// Access: applications, and customer tokens as shown to backends. Invalidated when an access is revoked or an
    /// application changes. A newly granted access needs no invalidation, because missing entries are not cached.
    Access,
}

impl Topic {
    /// All topics.
    pub const ALL: [Self; 3] = [Self::Storefront, Self::Access, Self::Views];

    fn place(self) -> usize {
        match self {
            Self::Storefront => 0,
            Self::Access => 1,
            Self::Views => 2,
        }
    }

    pub(super) fn number(self) -> i64 {
        match self {
            Self::Storefront => 0,
            Self::Access => 1,
            Self::Views => 2,
        }
    }
}

/// Invalidations of a write operation so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Invalidations {
    scopes: Vec<(Topic, i64)>,
    everything: bool,
    #[cfg(feature = "test-support")]
    unchanged: Vec<Topic>,
}

impl Invalidations {
    /// Adds a topic of a project.
    pub fn insert(&mut self, topic: Topic, project: i64) {
        if !self.scopes.contains(&(topic, project)) {
            self.scopes.push((topic, project));
        }
    }

    /// Adds every topic of every project.
    pub fn insert_everything(&mut self) {
        self.everything = true;
    }

    /// Declares that writes to tables of this topic change no cached data.
    pub fn declare_unchanged(&mut self, topic: Topic) {
        #[cfg(feature = "test-support")]
        self.unchanged.push(topic);
        #[cfg(not(feature = "test-support"))]
        let _ = topic;
    }

    /// Adds the invalidations of another operation of the same transaction.
    pub fn add(&mut self, other: &Self) {
        self.everything |= other.everything;
        for (topic, project) in &other.scopes {
            self.insert(*topic, *project);
        }
    }

    fn is_nothing(&self) -> bool {
        self.scopes.is_empty() && !self.everything
    }

    /// `true` if the operation invalidated the topic or declared it unchanged.
    #[cfg(feature = "test-support")]
    pub fn covers_topic(&self, topic: Topic) -> bool {
        self.everything || self.unchanged.contains(&topic) || self.scopes.iter().any(|(own, _)| *own == topic)
    }

    /// `true` if all caches are invalidated.
    #[cfg(feature = "test-support")]
    pub fn are_total(&self) -> bool {
        self.everything
    }

    /// Returns the counters to raise, in ascending order. The order prevents deadlocks between transactions that raise
    /// several.
    fn stripes(&self) -> Vec<(Topic, usize)> {
        let mut stripes: Vec<(Topic, usize)> = if self.everything {
            Topic::ALL.into_iter().flat_map(|topic| (0..STRIPES).map(move |stripe| (topic, stripe))).collect()
        } else {
            self.scopes.iter().map(|(topic, project)| (*topic, share(*project, STRIPES))).collect()
        };
        stripes.sort_unstable();
        stripes.dedup();
        stripes
    }

    fn slots(&self) -> Vec<(Topic, usize)> {
        if self.everything {
            // The order of creation is ascending and without duplicates.
            return Topic::ALL.into_iter().flat_map(|topic| (0..SLOTS).map(move |slot| (topic, slot))).collect();
        }
        let mut slots: Vec<(Topic, usize)> =
            self.scopes.iter().map(|(topic, project)| (*topic, share(*project, SLOTS))).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

/// Counters per topic in the database.
pub(super) const STRIPES: usize = 64;
/// Sequence counters per topic in memory; a multiple of the stripes.
const SLOTS: usize = 4_096;
/// Rows per counter on PostgreSQL.
const LANES: u64 = 8;
/// Validity of the cache after the start of the last successful read of the counters.
pub const CACHE_TRUST_PERIOD: Duration = Duration::from_secs(1);

fn share(project: i64, parts: usize) -> usize {
    let parts_wide = i64::try_from(parts).unwrap_or(i64::MAX);
    usize::try_from(project.rem_euclid(parts_wide)).unwrap_or_default()
}

/// Number of commits, and number of commits in progress. Both share one word, so that they are read together.
#[derive(Debug, Default)]
struct SequenceCounter(AtomicU64);

const IN_PROGRESS_MASK: u64 = 0xFFFF;
const ONE_COMMIT: u64 = IN_PROGRESS_MASK + 1;

impl SequenceCounter {
    fn read(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn open(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn close(&self, counts: bool) {
        if counts {
            self.0.fetch_add(ONE_COMMIT - 1, Ordering::SeqCst);
        } else {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn step(&self) {
        self.0.fetch_add(ONE_COMMIT, Ordering::SeqCst);
    }
}

fn stable(word: u64) -> Option<u64> {
    (word & IN_PROGRESS_MASK == 0).then_some(word / ONE_COMMIT)
}

/// State in which data was read. The data is valid while the state is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheVersion(u64);

#[derive(Debug)]
struct TopicVersions {
    anywhere: SequenceCounter,
    slots: Vec<SequenceCounter>,
    /// Increments of each counter by this process.
    own: Vec<SequenceCounter>,
}

impl Default for TopicVersions {
    fn default() -> Self {
        let words = |count: usize| (0..count).map(|_| SequenceCounter::default()).collect();
        Self { anywhere: SequenceCounter::default(), slots: words(SLOTS), own: words(STRIPES) }
    }
}

/// Cache versions of an open database.
#[derive(Debug)]
pub struct CacheVersions {
    topics: [TopicVersions; 3],
    started: Instant,
    /// Start of the last successful read of the counters, in microseconds; 0 if there was none.
    looked: AtomicU64,
    lane: AtomicU64,
}

impl Default for CacheVersions {
    fn default() -> Self {
        Self {
            topics: Default::default(),
            started: Instant::now(),
            looked: AtomicU64::new(0),
            lane: AtomicU64::new(std::process::id().into()),
        }
    }
}

impl CacheVersions {
    fn of(&self, topic: Topic) -> Option<&TopicVersions> {
        self.topics.get(topic.place())
    }

    /// Returns the version of a topic in a project; `None` while a commit is in progress. Compare it with one taken
    /// before reading: if both are equal, the data is still valid.
    pub fn version(&self, topic: Topic, project: ProjectId) -> Option<CacheVersion> {
        let word = self.of(topic)?.slots.get(share(project.get(), SLOTS))?;
        stable(word.read()).map(CacheVersion)
    }

    /// Returns the version of a topic over all projects, for data whose project is not known before the read.
    pub fn version_anywhere(&self, topic: Topic) -> Option<CacheVersion> {
        stable(self.of(topic)?.anywhere.read()).map(CacheVersion)
    }

    /// `true` if the counters were read within the last second. Otherwise cached data must not be used.
    pub fn are_watched(&self) -> bool {
        let looked = self.looked.load(Ordering::SeqCst);
        let trust = u64::try_from(CACHE_TRUST_PERIOD.as_micros()).unwrap_or_default();
        looked > 0 && self.now().saturating_sub(looked) < trust
    }

    /// Returns the current time for [`CacheVersions::counters_read_at`], in microseconds since the start.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }

    /// Records when a read of the counters began, after its result was applied.
    pub(super) fn counters_read_at(&self, moment: u64) {
        self.looked.store(moment, Ordering::SeqCst);
    }

    /// Returns the increments of a counter by this process; `None` while it is raising the counter.
    pub(super) fn own(&self, topic: Topic, stripe: usize) -> Option<u64> {
        stable(self.of(topic)?.own.get(stripe)?.read())
    }

    /// Invalidates the projects of this stripe, because another process wrote to them.
    pub(super) fn step(&self, topic: Topic, stripe: usize) {
        let Some(topic_versions) = self.of(topic) else { return };
        topic_versions.anywhere.step();
        for word in topic_versions.slots.iter().skip(stripe).step_by(STRIPES) {
            word.step();
        }
    }

    /// Raises the counters of what was invalidated, as the last statements before the commit, and suspends the affected
    /// versions. The caller drops the returned guard when the outcome of the commit is known. A missing counter is an
    /// error: other processes would never notice the commit.
    pub(super) fn open<R>(
        &self,
        invalidations: &Invalidations,
        connection: &mut AnyConnection,
    ) -> Result<Option<Open<'_>>, Abort<R>> {
        if invalidations.is_nothing() {
            return Ok(None);
        }
        let open =
            Open { versions: self, slots: invalidations.slots(), stripes: invalidations.stripes(), committed: false };
        open.each(SequenceCounter::open);
        let lane = if connection.is_postgres() { self.lane.fetch_add(1, Ordering::Relaxed) % LANES } else { 0 };
        let lane = i64::try_from(lane).unwrap_or_default();
        if invalidations.everything {
            let raised = Statement::new("UPDATE change_marks SET version = version + 1 WHERE lane = ")
                .value(lane)
                .run(connection)?;
            // A newer binary may have topics that this one does not know.
            if raised < open.stripes.len() {
                return Err(StoreError::corrupt(format!(
                    "change_marks: lane {lane} has {raised} rows instead of {}",
                    open.stripes.len()
                ))
                .into());
            }
        } else {
            for (topic, stripe) in &open.stripes {
                let raised = Statement::new("UPDATE change_marks SET version = version + 1 WHERE topic = ")
                    .value(topic.number())
                    .sql(" AND stripe = ")
                    .value(i64::try_from(*stripe).unwrap_or_default())
                    .sql(" AND lane = ")
                    .value(lane)
                    .run(connection)?;
                if raised != 1 {
                    let number = topic.number();
                    return Err(StoreError::corrupt(format!(
                        "change_marks: there are {raised} rows of topic {number}, stripe {stripe}, lane {lane}"
                    ))
                    .into());
                }
            }
        }
        Ok(Some(open))
    }
}

/// Guard for a commit in progress that changes cached data.
pub(super) struct Open<'a> {
    versions: &'a CacheVersions,
    slots: Vec<(Topic, usize)>,
    stripes: Vec<(Topic, usize)>,
    committed: bool,
}

impl Open<'_> {
    /// Notes that the commit succeeded.
    pub fn committed(mut self) {
        self.committed = true;
    }

    fn each(&self, step: impl Fn(&SequenceCounter)) {
        let slots = self.slots.iter().filter_map(|(topic, slot)| self.versions.of(*topic)?.slots.get(*slot));
        let own = self.stripes.iter().filter_map(|(topic, stripe)| self.versions.of(*topic)?.own.get(*stripe));
        let touched = |topic: &Topic| self.stripes.iter().any(|(stripe, _)| stripe == topic);
        let anywhere = Topic::ALL
            .iter()
            .filter(|topic| touched(topic))
            .filter_map(|topic| Some(&self.versions.of(*topic)?.anywhere));
        slots.chain(own).chain(anywhere).for_each(step);
    }
}

impl Drop for Open<'_> {
    /// A commit with an unknown outcome advances the versions too. Only the own increments require certainty: the watch
    /// treats a difference as a write of another process.
    fn drop(&mut self) {
        for (topic, stripe) in &self.stripes {
            if let Some(own) = self.versions.of(*topic).and_then(|topic_versions| topic_versions.own.get(*stripe)) {
                own.close(self.committed);
            }
        }
        for (topic, slot) in &self.slots {
            if let Some(word) = self.versions.of(*topic).and_then(|topic_versions| topic_versions.slots.get(*slot)) {
                word.close(true);
            }
        }
        for topic in Topic::ALL {
            if let Some(topic_versions) =
                self.versions.of(topic).filter(|_| self.stripes.iter().any(|(other, _)| *other == topic))
            {
                topic_versions.anywhere.close(true);
            }
        }
    }
}

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
