//! Invalidation: how a process knows that what it caches of the database is still so.
//!
//! A step that changes something others may cache *invalidates* its topic ([`invalidate`]). Its commit raises a counter
//! in the database for other processes, and moves on the [`CacheVersion`] of the topic and project in this one. A version is
//! taken before reading and counts as long as it is still the same. While a commit is under way there is none, so nothing
//! is cached or served that the commit may overtake: in the writing process an answer is never older than the last commit.
//! Other processes look at the counters ([`super::watch`]) twice a second and trust nothing when they could not look for a
//! second.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kontor_kernel::{ProjectId, StoreError};

use super::{Abort, AnyConnection};
use crate::statement::Statement;

/// What is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Everything a storefront shows: cards, offers, stock, prices, discounts, plans, categories, brands, tags, pictures,
    /// pages, blocks, menus, shops.
    Storefront,
    /// How often products were viewed. It changes every few seconds, and most of what is shown does not depend on it.
    Views,
    /// Who is let in: applications, and what backends are told about customers' tokens. Invalidated when somebody is shut out
    /// or an application changes; whoever is let in anew was not remembered.
    Access,
}

impl Topic {
    /// Every topic.
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

/// What a step has invalidated so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Invalidations {
    scopes: Vec<(Topic, i64)>,
    everything: bool,
    #[cfg(feature = "test-support")]
    unchanged: Vec<Topic>,
}

thread_local! {
    static PENDING: RefCell<Invalidations> = RefCell::default();
}

/// The step that runs on this thread changes something of this topic in this project.
pub(crate) fn invalidate(topic: Topic, project: i64) {
    PENDING.with_borrow_mut(|invalidations| {
        if !invalidations.scopes.contains(&(topic, project)) {
            invalidations.scopes.push((topic, project));
        }
    });
}

/// The step changes something of every topic in any project.
pub(crate) fn invalidate_everything() {
    PENDING.with_borrow_mut(|invalidations| invalidations.everything = true);
}

/// The step writes to tables of this topic without changing anything that is cached.
pub(crate) fn leave_valid(topic: Topic) {
    #[cfg(feature = "test-support")]
    PENDING.with_borrow_mut(|invalidations| invalidations.unchanged.push(topic));
    #[cfg(not(feature = "test-support"))]
    let _ = topic;
}

impl Invalidations {
    /// What was invalidated on this thread since the last time.
    pub fn take() -> Self {
        PENDING.take()
    }

    /// What another step of the same commit invalidated, too.
    pub fn add(&mut self, other: &Self) {
        self.everything |= other.everything;
        for scope in &other.scopes {
            if !self.scopes.contains(scope) {
                self.scopes.push(*scope);
            }
        }
    }

    fn is_nothing(&self) -> bool {
        self.scopes.is_empty() && !self.everything
    }

    /// Whether the topic was thought of.
    #[cfg(feature = "test-support")]
    pub fn tells_of(&self, topic: Topic) -> bool {
        self.everything || self.unchanged.contains(&topic) || self.scopes.iter().any(|(own, _)| *own == topic)
    }

    /// Whether nothing that is remembered anywhere counts any longer.
    #[cfg(feature = "test-support")]
    pub fn are_total(&self) -> bool {
        self.everything
    }

    /// The counters to raise, ascending: two commits that raise several do not wait for each other in a circle.
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
            // In order as they are made, and each once.
            return Topic::ALL.into_iter().flat_map(|topic| (0..SLOTS).map(move |slot| (topic, slot))).collect();
        }
        let mut slots: Vec<(Topic, usize)> =
            self.scopes.iter().map(|(topic, project)| (*topic, share(*project, SLOTS))).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

/// Counters of a topic in the database.
pub(super) const STRIPES: usize = 64;
/// Words of a topic in memory; a multiple of the stripes.
const SLOTS: usize = 4_096;
/// Rows of one counter on PostgreSQL.
const LANES: u64 = 8;
/// What is remembered is trusted so long after the last look at the counters began.
pub const TRUST: Duration = Duration::from_secs(1);

fn share(project: i64, parts: usize) -> usize {
    let parts_wide = i64::try_from(parts).unwrap_or(i64::MAX);
    usize::try_from(project.rem_euclid(parts_wide)).unwrap_or_default()
}

/// How many commits there were, and how many are under way: one word, so that both are read at once.
#[derive(Debug, Default)]
struct Word(AtomicU64);

const UNDER_WAY: u64 = 0xFFFF;
const ONE_COMMIT: u64 = UNDER_WAY + 1;

impl Word {
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
    (word & UNDER_WAY == 0).then_some(word / ONE_COMMIT)
}

/// The state in which something was read. It counts as long as it is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheVersion(u64);

#[derive(Debug)]
struct TopicVersions {
    anywhere: Word,
    slots: Vec<Word>,
    /// What this process itself raised of each counter.
    own: Vec<Word>,
}

impl Default for TopicVersions {
    fn default() -> Self {
        let words = |count: usize| (0..count).map(|_| Word::default()).collect();
        Self { anywhere: Word::default(), slots: words(SLOTS), own: words(STRIPES) }
    }
}

/// The cache versions of one open database.
#[derive(Debug)]
pub struct CacheVersions {
    topics: [TopicVersions; 3],
    started: Instant,
    /// When the last look at the counters that went well began, in microseconds; 0 when there was none.
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

    /// The version of a topic in a project; none while a commit is under way. Compare it with one taken before reading:
    /// when both are the same, what was read is still so.
    pub fn version(&self, topic: Topic, project: ProjectId) -> Option<CacheVersion> {
        let word = self.of(topic)?.slots.get(share(project.get(), SLOTS))?;
        stable(word.read()).map(CacheVersion)
    }

    /// The version of a topic in all projects together, for what is read before its project is known.
    pub fn version_anywhere(&self, topic: Topic) -> Option<CacheVersion> {
        stable(self.of(topic)?.anywhere.read()).map(CacheVersion)
    }

    /// Whether the counters were looked at within the last second. Nothing remembered may be used otherwise.
    pub fn are_watched(&self) -> bool {
        let looked = self.looked.load(Ordering::SeqCst);
        let trust = u64::try_from(TRUST.as_micros()).unwrap_or_default();
        looked > 0 && self.now().saturating_sub(looked) < trust
    }

    /// The moment, for [`CacheVersions::looked_at`].
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }

    /// Tells when a look at the counters began, after what it saw was taken in.
    pub(super) fn looked_at(&self, moment: u64) {
        self.looked.store(moment, Ordering::SeqCst);
    }

    /// What this process itself raised of a counter; none while it is raising it.
    pub(super) fn own(&self, topic: Topic, stripe: usize) -> Option<u64> {
        stable(self.of(topic)?.own.get(stripe)?.read())
    }

    /// Somebody else wrote in projects of this stripe.
    pub(super) fn step(&self, topic: Topic, stripe: usize) {
        let Some(topic_versions) = self.of(topic) else { return };
        topic_versions.anywhere.step();
        for word in topic_versions.slots.iter().skip(stripe).step_by(STRIPES) {
            word.step();
        }
    }

    /// Raises the counters of what was invalidated, as the last statements before the commit, and has nobody rely on what is
    /// about to change. The answer is dropped when the outcome of the commit is known. A counter that is not there is an
    /// error: other processes would never learn of the commit.
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
        open.each(Word::open);
        let lane = if connection.is_postgres() { self.lane.fetch_add(1, Ordering::Relaxed) % LANES } else { 0 };
        let lane = i64::try_from(lane).unwrap_or_default();
        if invalidations.everything {
            let raised = Statement::new("UPDATE change_marks SET version = version + 1 WHERE lane = ")
                .value(lane)
                .run(connection)?;
            // A newer binary may have topics that this one does not know.
            if raised < open.stripes.len() {
                return Err(StoreError::corrupt(format!(
                    "change_marks: of lane {lane} there are {raised} rows instead of {}",
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

/// A commit under way that changes what is remembered.
pub(super) struct Open<'a> {
    versions: &'a CacheVersions,
    slots: Vec<(Topic, usize)>,
    stripes: Vec<(Topic, usize)>,
    committed: bool,
}

impl Open<'_> {
    /// The commit went well.
    pub fn committed(mut self) {
        self.committed = true;
    }

    fn each(&self, step: impl Fn(&Word)) {
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
    /// A commit of which nobody knows whether it went well moves what is remembered on, too; only what this process
    /// counts as its own waits for certainty: the watch takes the difference for somebody else's.
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
