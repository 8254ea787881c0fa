//! What writing costs: how many transactions were committed, and how long their statements and their commits took.
//!
//! Told by diesel itself, connection by connection, so whoever runs a transaction is counted, whatever it does in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::InstrumentationEvent;

/// The sum over every transaction that writes. Savepoints within one are its statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteCosts {
    /// Transactions that were committed.
    pub commits: u64,
    /// Their statements, and those of transactions that were rolled back; without commits.
    pub statements: u64,
    /// How long the statements took.
    pub in_statements: Duration,
    /// How long the commits took.
    pub in_commits: Duration,
}

impl WriteCosts {
    /// What came since then.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            commits: self.commits.saturating_sub(before.commits),
            statements: self.statements.saturating_sub(before.statements),
            in_statements: self.in_statements.saturating_sub(before.in_statements),
            in_commits: self.in_commits.saturating_sub(before.in_commits),
        }
    }
}

/// Where every connection adds what it did.
#[derive(Default)]
pub(super) struct WriteMeter {
    commits: AtomicU64,
    statements: AtomicU64,
    in_statements: AtomicU64,
    in_commits: AtomicU64,
}

impl WriteMeter {
    pub fn read(&self) -> WriteCosts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        WriteCosts {
            commits: count(&self.commits),
            statements: count(&self.statements),
            in_statements: Duration::from_nanos(count(&self.in_statements)),
            in_commits: Duration::from_nanos(count(&self.in_commits)),
        }
    }

    fn add(&self, is_commit: bool, took: Duration) {
        let (number, time) =
            if is_commit { (&self.commits, &self.in_commits) } else { (&self.statements, &self.in_statements) };
        number.fetch_add(1, Ordering::Relaxed);
        time.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// Which statement comes next.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Next {
    #[default]
    Statement,
    Begin,
    Commit,
    Rollback,
}

/// Times the transactions of one connection.
pub(super) struct Stopwatch {
    meter: Arc<WriteMeter>,
    next: Next,
    /// Within a transaction that may write.
    writes: bool,
    began: Option<Instant>,
}

impl Stopwatch {
    pub fn new(meter: Arc<WriteMeter>) -> Self {
        Self { meter, next: Next::default(), writes: false, began: None }
    }

    pub fn see(&mut self, event: &InstrumentationEvent<'_>) {
        match event {
            InstrumentationEvent::BeginTransaction { depth, .. } if depth.get() == 1 => self.next = Next::Begin,
            InstrumentationEvent::CommitTransaction { depth, .. } if depth.get() == 1 => self.next = Next::Commit,
            InstrumentationEvent::RollbackTransaction { depth, .. } if depth.get() == 1 => self.next = Next::Rollback,
            InstrumentationEvent::StartQuery { query, .. } => {
                if self.next == Next::Begin {
                    self.writes = !query.to_string().ends_with("READ ONLY");
                }
                self.began = self.writes.then(Instant::now);
            }
            InstrumentationEvent::FinishQuery { error, .. } => {
                let ended = std::mem::take(&mut self.next);
                if let Some(began) = self.began.take() {
                    self.meter.add(ended == Next::Commit && error.is_none(), began.elapsed());
                }
                if matches!(ended, Next::Commit | Next::Rollback) {
                    self.writes = false;
                }
            }
            _ => {}
        }
    }
}
