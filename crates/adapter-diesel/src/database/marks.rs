//! Marks of change: how a process knows that what it remembers of the database is still so.
//!
//! A step that changes something others may remember *notes* it ([`note`]). Its commit raises a counter in the database
//! for other processes, and the same commit moves on what this process remembers by: a [`Stand`] of a topic in a project.
//! A stand is taken before reading and counts as long as it is still the same. While a commit is under way there is none,
//! so nothing is remembered or served that the commit may overtake: in the writing process an answer is never older than
//! the last commit. Other processes look at the counters ([`super::watch`]) twice a second and trust nothing when they
//! could not look for a second.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kontor_kernel::{ProjectId, StoreError};

use super::{Abort, AnyConnection};
use crate::statement::Statement;

/// What is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Everything a storefront shows: cards, offers, stock, prices, discounts, plans, categories, brands, tags, pictures.
    Shelves,
    /// How often products were looked at. It changes every few seconds, and most of what is shown does not depend on it.
    Looks,
    /// Who is let in: applications, and what backends are told about customers' tokens. Noted when somebody is shut out
    /// or an application changes; whoever is let in anew was not remembered.
    Access,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 3] = [Self::Shelves, Self::Access, Self::Looks];

    fn place(self) -> usize {
        match self {
            Self::Shelves => 0,
            Self::Access => 1,
            Self::Looks => 2,
        }
    }

    pub(super) fn number(self) -> i64 {
        match self {
            Self::Shelves => 0,
            Self::Access => 1,
            Self::Looks => 2,
        }
    }
}

/// What a step has changed so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Noted {
    marks: Vec<(Topic, i64)>,
    everything: bool,
    #[cfg(feature = "test-support")]
    unchanged: Vec<Topic>,
}

thread_local! {
    static NOTED: RefCell<Noted> = RefCell::default();
}

/// Notes that the step that runs on this thread changes something of this topic in this project.
pub(crate) fn note(topic: Topic, project: i64) {
    NOTED.with_borrow_mut(|noted| {
        if !noted.marks.contains(&(topic, project)) {
            noted.marks.push((topic, project));
        }
    });
}

/// Notes that the step changes something of every topic in any project.
pub(crate) fn note_everything() {
    NOTED.with_borrow_mut(|noted| noted.everything = true);
}

/// Says that the step writes to tables of this topic without changing anything that is remembered.
pub(crate) fn note_unchanged(topic: Topic) {
    #[cfg(feature = "test-support")]
    NOTED.with_borrow_mut(|noted| noted.unchanged.push(topic));
    #[cfg(not(feature = "test-support"))]
    let _ = topic;
}

impl Noted {
    /// What was noted on this thread since the last time.
    pub fn take() -> Self {
        NOTED.take()
    }

    fn is_nothing(&self) -> bool {
        self.marks.is_empty() && !self.everything
    }

    /// Whether the topic was thought of.
    #[cfg(feature = "test-support")]
    pub fn tells_of(&self, topic: Topic) -> bool {
        self.everything || self.unchanged.contains(&topic) || self.marks.iter().any(|(noted, _)| *noted == topic)
    }

    /// The counters to raise, ascending: two commits that raise several do not wait for each other in a circle.
    fn stripes(&self) -> Vec<(Topic, usize)> {
        let mut stripes: Vec<(Topic, usize)> = if self.everything {
            Topic::ALL.into_iter().flat_map(|topic| (0..STRIPES).map(move |stripe| (topic, stripe))).collect()
        } else {
            self.marks.iter().map(|(topic, project)| (*topic, share(*project, STRIPES))).collect()
        };
        stripes.sort_unstable();
        stripes.dedup();
        stripes
    }

    fn slots(&self) -> Vec<(Topic, usize)> {
        let mut slots: Vec<(Topic, usize)> = if self.everything {
            Topic::ALL.into_iter().flat_map(|topic| (0..SLOTS).map(move |slot| (topic, slot))).collect()
        } else {
            self.marks.iter().map(|(topic, project)| (*topic, share(*project, SLOTS))).collect()
        };
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

fn settled(word: u64) -> Option<u64> {
    (word & UNDER_WAY == 0).then_some(word / ONE_COMMIT)
}

/// What was so when something was read. It counts as long as it is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand(u64);

#[derive(Debug)]
struct Marked {
    anywhere: Word,
    slots: Vec<Word>,
    /// What this process itself raised of each counter.
    own: Vec<Word>,
}

impl Default for Marked {
    fn default() -> Self {
        let words = |count: usize| (0..count).map(|_| Word::default()).collect();
        Self { anywhere: Word::default(), slots: words(SLOTS), own: words(STRIPES) }
    }
}

/// The marks of one open database.
#[derive(Debug)]
pub struct Marks {
    topics: [Marked; 3],
    started: Instant,
    /// When the last look at the counters that went well began, in microseconds; 0 when there was none.
    looked: AtomicU64,
    lane: AtomicU64,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            topics: Default::default(),
            started: Instant::now(),
            looked: AtomicU64::new(0),
            lane: AtomicU64::new(std::process::id().into()),
        }
    }
}

impl Marks {
    fn of(&self, topic: Topic) -> Option<&Marked> {
        self.topics.get(topic.place())
    }

    /// Where a topic stands in a project; none while a commit is under way. Compare it with one taken before reading:
    /// when both are the same, what was read is still so.
    pub fn stand(&self, topic: Topic, project: ProjectId) -> Option<Stand> {
        let word = self.of(topic)?.slots.get(share(project.get(), SLOTS))?;
        settled(word.read()).map(Stand)
    }

    /// Where a topic stands in all projects together, for what is read before its project is known.
    pub fn stand_anywhere(&self, topic: Topic) -> Option<Stand> {
        settled(self.of(topic)?.anywhere.read()).map(Stand)
    }

    /// Whether the counters were looked at within the last second. Nothing remembered may be used otherwise.
    pub fn are_watched(&self) -> bool {
        let looked = self.looked.load(Ordering::SeqCst);
        let trust = u64::try_from(TRUST.as_micros()).unwrap_or_default();
        looked > 0 && self.now().saturating_sub(looked) < trust
    }

    /// The moment, for [`Marks::looked_at`].
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }

    /// Tells when a look at the counters began, after what it saw was taken in.
    pub(super) fn looked_at(&self, moment: u64) {
        self.looked.store(moment, Ordering::SeqCst);
    }

    /// What this process itself raised of a counter; none while it is raising it.
    pub(super) fn own(&self, topic: Topic, stripe: usize) -> Option<u64> {
        settled(self.of(topic)?.own.get(stripe)?.read())
    }

    /// Somebody else wrote in projects of this stripe.
    pub(super) fn step(&self, topic: Topic, stripe: usize) {
        let Some(marked) = self.of(topic) else { return };
        marked.anywhere.step();
        for word in marked.slots.iter().skip(stripe).step_by(STRIPES) {
            word.step();
        }
    }

    /// Raises the counters of what was noted, as the last statements before the commit, and has nobody rely on what is
    /// about to change. The answer is dropped when the outcome of the commit is known. A counter that is not there is an
    /// error: other processes would never learn of the commit.
    pub(super) fn open<R>(&self, noted: &Noted, connection: &mut AnyConnection) -> Result<Option<Open<'_>>, Abort<R>> {
        if noted.is_nothing() {
            return Ok(None);
        }
        let open = Open { marks: self, slots: noted.slots(), stripes: noted.stripes(), committed: false };
        open.each(Word::open);
        let lane = match connection {
            AnyConnection::Postgres(_) => self.lane.fetch_add(1, Ordering::Relaxed) % LANES,
            AnyConnection::Sqlite(_) => 0,
        };
        let lane = i64::try_from(lane).unwrap_or_default();
        if noted.everything {
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
    marks: &'a Marks,
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
        let slots = self.slots.iter().filter_map(|(topic, slot)| self.marks.of(*topic)?.slots.get(*slot));
        let own = self.stripes.iter().filter_map(|(topic, stripe)| self.marks.of(*topic)?.own.get(*stripe));
        let touched = |topic: &Topic| self.stripes.iter().any(|(stripe, _)| stripe == topic);
        let anywhere =
            Topic::ALL.iter().filter(|topic| touched(topic)).filter_map(|topic| Some(&self.marks.of(*topic)?.anywhere));
        slots.chain(own).chain(anywhere).for_each(step);
    }
}

impl Drop for Open<'_> {
    /// A commit of which nobody knows whether it went well moves what is remembered on, too; only what this process
    /// counts as its own waits for certainty: the watch takes the difference for somebody else's.
    fn drop(&mut self) {
        for (topic, stripe) in &self.stripes {
            if let Some(own) = self.marks.of(*topic).and_then(|marked| marked.own.get(*stripe)) {
                own.close(self.committed);
            }
        }
        for (topic, slot) in &self.slots {
            if let Some(word) = self.marks.of(*topic).and_then(|marked| marked.slots.get(*slot)) {
                word.close(true);
            }
        }
        for topic in Topic::ALL {
            if let Some(marked) = self.marks.of(topic).filter(|_| self.stripes.iter().any(|(other, _)| *other == topic))
            {
                marked.anywhere.close(true);
            }
        }
    }
}
