//! Notifications to the shop: sent until answered with exactly HTTP 200, sometimes twice or out of order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::web::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, Semaphore, oneshot, watch};

use super::ledger::Event;
use crate::faults::{FaultKind, Faults, Service};
use crate::state::{SandboxConfig, SandboxState, keep_newest, lock, moment};

/// Pauses before the redeliveries, in seconds.
const REDELIVERIES: [u64; 7] = [10, 42, 84, 168, 672, 5_376, 86_016];
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const MAX_PARALLEL: usize = 64;
const MAX_WAITING: usize = 10_000;
/// Interval, in real time, at which redeliveries and deadlines are checked.
const TICK: Duration = Duration::from_millis(100);

/// One notification to one URL.
#[derive(Clone)]
pub struct Notification {
    event: &'static str,
    object_id: String,
    url: String,
    body: Bytes,
    /// Number of earlier attempts.
    redeliveries: usize,
}

/// Notifications sent in sequence.
pub struct Job {
    notifications: Vec<Notification>,
    /// Notified when all have been sent.
    sent: Option<oneshot::Sender<()>>,
    _underway: RunningJob,
}

/// Counts a job while it exists.
struct RunningJob(watch::Sender<usize>);

impl RunningJob {
    fn of(jobs: &watch::Sender<usize>) -> Self {
        jobs.send_modify(|jobs| *jobs += 1);
        Self(jobs.clone())
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.0.send_modify(|jobs| *jobs = jobs.saturating_sub(1));
    }
}

/// Notifications to send before a response.
#[derive(Default)]
pub struct PendingNotifications(Vec<oneshot::Receiver<()>>);

impl PendingNotifications {
    /// Waits until each of them has been sent, accepted or not.
    pub async fn sent(self) {
        for sent in self.0 {
            // An error means that the sandbox is stopping.
            let _ = sent.await;
        }
    }
}

/// Result of one attempt.
struct Attempt {
    at: DateTime<Utc>,
    event: &'static str,
    object_id: String,
    url: String,
    redeliveries: usize,
    answer: Result<u16, String>,
}

/// Notification URLs, queues and the latest attempts.
pub struct Notifier {
    urls: Mutex<Vec<String>>,
    outbox: UnboundedSender<Job>,
    pauses: Vec<TimeDelta>,
    attempts: Mutex<VecDeque<Attempt>>,
    remembered: usize,
    waiting: Mutex<Waiting>,
    /// Number of unfinished jobs.
    underway: watch::Sender<usize>,
    /// Notifies the courier that the clock has moved.
    clock_moved: Notify,
}

impl Notifier {
    pub fn new(config: &SandboxConfig, outbox: UnboundedSender<Job>) -> Self {
        let scale = if config.redelivery_scale.is_finite() { config.redelivery_scale.clamp(0.0, 1_000.0) } else { 1.0 };
        let scaled = |seconds| Duration::from_secs(seconds).mul_f64(scale);
        Self {
            urls: Mutex::new(config.notification_urls.clone()),
            outbox,
            pauses: REDELIVERIES.map(|seconds| TimeDelta::from_std(scaled(seconds)).unwrap_or(TimeDelta::MAX)).to_vec(),
            attempts: Mutex::new(VecDeque::new()),
            remembered: config.capacity.max(1),
            waiting: Mutex::default(),
            underway: watch::Sender::new(0),
            clock_moved: Notify::new(),
        }
    }

    pub fn urls(&self) -> Vec<String> {
        lock(&self.urls).clone()
    }

    /// Replaces the notification URLs. Earlier events are not sent again.
    pub fn set_urls(&self, urls: Vec<String>) {
        *lock(&self.urls) = urls;
    }

    pub fn clock_has_moved(&self) {
        self.clock_moved.notify_one();
    }

    /// Queues notifications of the events; without a URL none is sent. Returns those to send before the response.
    pub fn announce(&self, events: Vec<Event>, faults: &Faults) -> PendingNotifications {
        let mut pending = PendingNotifications::default();
        for event in events {
            let urls = self.urls();
            if urls.is_empty() {
                continue;
            }
            let planned = || faults.take_for_notification(Service::Acquirer).map(|fault| fault.kind);
            let fault = event.fault.or_else(planned);
            for url in urls {
                let notification = |name: &'static str, object: &Value| Notification {
                    event: name,
                    object_id: event.object_id.clone(),
                    url: url.clone(),
                    body: json!({ "type": "notification", "event": name, "object": object }).to_string().into(),
                    redeliveries: 0,
                };
                let reported = notification(event.name, &event.object);
                let notifications = match fault {
                    Some(FaultKind::Duplicate) => vec![reported.clone(), reported],
                    Some(FaultKind::Reorder) => vec![reported, notification(event.stale.0, &event.stale.1)],
                    _ => vec![reported],
                };
                let sent = event.comes_first.then(|| {
                    let (sent, waiting) = oneshot::channel();
                    pending.0.push(waiting);
                    sent
                });
                self.send(notifications, sent);
            }
        }
        pending
    }

    fn send(&self, notifications: Vec<Notification>, sent: Option<oneshot::Sender<()>>) {
        // The receiver is dropped only when the sandbox is stopping.
        let _ = self.outbox.send(Job { notifications, sent, _underway: RunningJob::of(&self.underway) });
    }

    /// Sends the redeliveries that are due. Returns `true` if there were any.
    fn redeliver(&self, now: DateTime<Utc>) -> bool {
        let mut any = false;
        while let Some(notification) = { lock(&self.waiting).take_due(now) } {
            any = true;
            self.send(vec![notification], None);
        }
        any
    }

    /// Returns the time of the next redelivery.
    pub fn next_redelivery(&self) -> Option<DateTime<Utc>> {
        lock(&self.waiting).by_due.keys().next().map(|(due, _)| *due)
    }

    /// Sends the redeliveries that are due and waits until every queued notification has been sent, accepted or not.
    /// Returns `true` if there were any.
    pub async fn settle(&self, now: DateTime<Utc>) -> bool {
        let any = self.redeliver(now) || *self.underway.borrow() > 0;
        // `self` owns the sender, so waiting cannot fail.
        let _ = self.underway.subscribe().wait_for(|jobs| *jobs == 0).await;
        any
    }

    /// Returns the latest attempts, newest first.
    pub fn attempts(&self) -> Vec<Value> {
        let attempts = lock(&self.attempts);
        let view = |attempt: &Attempt| {
            let (status, error) = match &attempt.answer {
                Ok(status) => (Some(*status), None),
                Err(error) => (None, Some(error.as_str())),
            };
            json!({
                "at": moment(attempt.at),
                "event": attempt.event,
                "object_id": attempt.object_id,
                "url": attempt.url,
                "attempt": attempt.redeliveries + 1,
                "status": status,
                "error": error,
            })
        };
        attempts.iter().rev().take(100).map(view).collect()
    }

    fn record(&self, attempt: Attempt) {
        keep_newest(&mut lock(&self.attempts), self.remembered, attempt);
    }
}

/// Notifications that wait for redelivery, by due time.
#[derive(Default)]
struct Waiting {
    by_due: BTreeMap<(DateTime<Utc>, Reverse<u64>), Notification>,
    added: u64,
}

impl Waiting {
    fn add(&mut self, due: DateTime<Utc>, notification: Notification) {
        if self.by_due.len() < MAX_WAITING {
            self.added += 1;
            self.by_due.insert((due, Reverse(self.added)), notification);
        }
    }

    fn take_due(&mut self, now: DateTime<Utc>) -> Option<Notification> {
        let entry = self.by_due.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }
}

/// Sends notifications until the sandbox stops. Also expires objects whose deadlines have passed.
pub async fn courier(sandbox_state: Arc<SandboxState>, client: reqwest::Client, mut inbox: UnboundedReceiver<Job>) {
    let permits = Arc::new(Semaphore::new(MAX_PARALLEL));
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let send = |job: Job| {
        let (sandbox_state, client, permits) = (Arc::clone(&sandbox_state), client.clone(), Arc::clone(&permits));
        tokio::spawn(async move {
            let _permit = permits.acquire().await;
            tokio::select! {
                () = deliver(&sandbox_state, &client, job) => {}
                () = sandbox_state.stopping.cancelled() => {}
            }
        });
    };
    loop {
        tokio::select! {
            () = sandbox_state.stopping.cancelled() => break,
            Some(job) = inbox.recv() => send(job),
            () = sandbox_state.acquirer.notifier.clock_moved.notified() => {}
            _ = tick.tick() => {}
        }
        let now = sandbox_state.with_ledger(|_, now| now);
        sandbox_state.acquirer.notifier.redeliver(now);
    }
}

/// Sends the notifications of a job in order. Each one that is not accepted waits for its own redelivery.
async fn deliver(sandbox_state: &SandboxState, client: &reqwest::Client, mut job: Job) {
    let notifier = &sandbox_state.acquirer.notifier;
    for mut notification in std::mem::take(&mut job.notifications) {
        let answer = client
            .post(&notification.url)
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .timeout(ANSWER_WITHIN)
            .body(notification.body.clone())
            .send()
            .await
            .map(|answer| answer.status().as_u16())
            .map_err(|error| error.to_string());
        let taken = answer == Ok(200);
        notifier.record(Attempt {
            at: sandbox_state.now(),
            event: notification.event,
            object_id: notification.object_id.clone(),
            url: notification.url.clone(),
            redeliveries: notification.redeliveries,
            answer,
        });
        if let (false, Some(pause)) = (taken, notifier.pauses.get(notification.redeliveries)) {
            notification.redeliveries += 1;
            let due = sandbox_state.now().checked_add_signed(*pause).unwrap_or(DateTime::<Utc>::MAX_UTC);
            lock(&notifier.waiting).add(due, notification);
        }
    }
    if let Some(sent) = job.sent.take() {
        let _ = sent.send(());
    }
}
