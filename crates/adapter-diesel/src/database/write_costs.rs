//! Cost of writing: committed transactions, and the time of their statements and commits.
//!
//! Diesel's instrumentation reports the events of each connection, so every transaction is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::InstrumentationEvent;

/// Sums over all transactions that write. Savepoints within a transaction count as its statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteCosts {
    /// Transactions that were committed.
    pub commits: u64,
    /// Statements of these and of rolled-back transactions, without commits.
    pub statements: u64,
    /// Time spent in statements.
    pub in_statements: Duration,
    /// Time spent in commits.
    pub in_commits: Duration,
}

impl WriteCosts {
    /// Returns the difference to an earlier reading.
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

/// Counters that all connections add to.
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

/// Kind of the next statement.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Next {
    #[default]
    Statement,
    Begin,
    Commit,
    Rollback,
}

/// Timer for the transactions of one connection.
pub(super) struct TransactionTimer {
    meter: Arc<WriteMeter>,
    next: Next,
    /// `true` within a transaction that may write.
    writes: bool,
    began: Option<Instant>,
}

impl TransactionTimer {
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
