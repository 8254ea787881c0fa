use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;

use chrono::TimeDelta;
use futures_util::future::{Either, FutureExt, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use kontor_kernel::{Clock, Random, SecretCipher, StoreError};

use crate::model::{DeliveryRequest, DeliveryState, EndpointUrl, SendFailure, SendOutcome, WebhookSecret};
use crate::ports::{AttemptRecord, Backlog, DeliveryQueue, FanOut, Lease, LeasedDelivery, Signer, WebhookSender};

/// Events fanned out in one transaction.
const EVENTS_PER_BATCH: u32 = 100;
/// Deliveries sent at the same time, over all endpoints.
const SLOTS: usize = 64;
/// Long enough for an attempt that times out.
const LEASE_SECONDS: i64 = 60;
/// Minimum time left on the lease when an attempt begins: the 10 seconds of an attempt, and time to record it.
const MARGIN_SECONDS: i64 = 20;

/// Background work on the outbox and the deliveries. Any number of processes may run it at the same time.
pub struct DeliveryWorker {
    /// Queue of deliveries.
    pub queue: Arc<dyn DeliveryQueue>,
    /// Sends requests.
    pub sender: Arc<dyn WebhookSender>,
    /// Signs requests.
    pub signer: Arc<dyn Signer>,
    /// Opens sealed secrets.
    pub cipher: Arc<dyn SecretCipher>,
    /// Source of delivery ids.
    pub random: Arc<dyn Random>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

/// Counts of deliveries by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryRound {
    /// Leased; zero when nothing was due.
    pub leased: usize,
    /// Accepted by their receivers.
    pub delivered: usize,
    /// Not accepted; another attempt follows.
    pub retried: usize,
    /// Not accepted after the last attempt.
    pub failed: usize,
    /// Not recorded: the lease passed to another worker, or the webhook was deleted.
    pub lost: usize,
}

impl DeliveryRound {
    fn count(&mut self, outcome: Option<DeliveryState>) {
        match outcome {
            None => self.lost += 1,
            Some(DeliveryState::Delivered { .. }) => self.delivered += 1,
            Some(DeliveryState::Pending(_)) => self.retried += 1,
            Some(DeliveryState::Failed { .. }) => self.failed += 1,
        }
    }
}

impl DeliveryWorker {
    /// Creates deliveries from one batch of outbox events. Call it again at once while it finds events.
    pub async fn dispatch(&self) -> Result<FanOut, StoreError> {
        self.queue.fan_out(EVENTS_PER_BATCH, Arc::clone(&self.random), self.clock.now()).await
    }

    /// Sends everything that is due and records each outcome; afterwards no attempt is in progress. Works as
    /// [`DeliveryWorker::deliver_while`], but reads the queue again only when an attempt ends.
    pub async fn deliver_due(&self, owner: &str) -> Result<DeliveryRound, StoreError> {
        self.deliver_while(owner, || true, pending).await
    }

    /// Sends due deliveries, many at a time, and records each outcome. A free slot takes the next due delivery
    /// at once, so no delivery waits for a slow receiver. Free slots read the queue again when an attempt ends
    /// and after every `pause`, while `go_on` returns `true`. Ends when nothing is due and no attempt is in
    /// progress.
    ///
    /// `owner` must be unique to this process. Dropping the future leaves leases behind: release them with
    /// [`DeliveryWorker::release`], or they expire after a minute. The receiver of an interrupted attempt gets
    /// the delivery again under the same ids.
    pub async fn deliver_while<P: Future<Output = ()>>(
        &self,
        owner: &str,
        go_on: impl Fn() -> bool,
        pause: impl Fn() -> P,
    ) -> Result<DeliveryRound, StoreError> {
        let (mut round, mut failure) = (DeliveryRound::default(), None);
        let mut attempts = FuturesUnordered::new();
        loop {
            // After a first storage error no more attempts begin; those in progress run to their end.
            while failure.is_none() && attempts.len() < SLOTS && go_on() {
                match self.lease(owner, SLOTS - attempts.len()).await {
                    Ok((_, leased)) if leased.is_empty() => break,
                    Ok((lease, leased)) => {
                        round.leased += leased.len();
                        attempts.extend(leased.into_iter().map(|delivery| self.deliver(lease.clone(), delivery)));
                    }
                    Err(error) => failure = Some(error),
                }
            }
            if attempts.is_empty() {
                return failure.map_or(Ok(round), Err);
            }
            let ended = if failure.is_some() || !go_on() {
                attempts.next().await
            } else {
                let pause = pin!(pause());
                match select(attempts.next(), pause).await {
                    Either::Left((ended, _)) => ended,
                    Either::Right(_) => None,
                }
            };
            // Attempts that ended together free their slots before the queue is read once.
            let others = std::iter::from_fn(|| attempts.next().now_or_never().flatten());
            for recorded in ended.into_iter().chain(others) {
                match recorded {
                    Ok(outcome) => round.count(outcome),
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
        }
    }

    async fn lease(&self, owner: &str, most: usize) -> Result<(Lease, Vec<LeasedDelivery>), StoreError> {
        let now = self.clock.now();
        let lease = Lease { owner: owner.to_owned(), until: now + TimeDelta::seconds(LEASE_SECONDS) };
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        Ok((lease.clone(), self.queue.lease(lease, most, now).await?))
    }

    /// Releases the leases of this process, on shutdown. Returns their number.
    pub async fn release(&self, owner: &str) -> Result<u64, StoreError> {
        self.queue.release(owner).await
    }

    /// Returns the oldest waiting work.
    pub async fn backlog(&self) -> Result<Backlog, StoreError> {
        self.queue.backlog(self.clock.now()).await
    }

    async fn deliver(&self, lease: Lease, delivery: LeasedDelivery) -> Result<Option<DeliveryState>, StoreError> {
        if self.clock.now() + TimeDelta::seconds(MARGIN_SECONDS) > lease.until {
            return Ok(None);
        }
        let (id, from, webhook_id, circuit) = (delivery.id, delivery.pending, delivery.webhook_id, delivery.circuit);
        let outcome = self.attempt(delivery).await;
        let at = self.clock.now();
        let (to, circuit_after) = (from.after(&outcome, at), circuit.after(&outcome, at));
        let owner = lease.owner;
        let recorded = AttemptRecord { id, owner, from, to, outcome, webhook_id, circuit, circuit_after, at };
        Ok(self.queue.record_attempt(recorded).await?.then_some(to))
    }

    async fn attempt(&self, delivery: LeasedDelivery) -> SendOutcome {
        let Ok(url) = EndpointUrl::parse(&delivery.url) else {
            return SendOutcome::Failed(SendFailure::ForbiddenAddress);
        };
        let Ok(secret) = WebhookSecret::open(&delivery.sealed_secret, &*self.cipher) else {
            return SendOutcome::Failed(SendFailure::UnreadableSecret);
        };
        let now = self.clock.now();
        self.sender.send(DeliveryRequest::sign(delivery.message, url, &secret, now, &*self.signer)).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::model::{CircuitBreaker, Message, Pending};
    use crate::ports::{MockDeliveryQueue, MockSigner, MockWebhookSender};
    use chrono::DateTime;
    use kontor_kernel::testing::{CountingRandom, PlainCipher};
    use kontor_kernel::{DeliveryId, FixedClock, WebhookId};
    use uuid::Uuid;

    fn leased(id: i64, url: &str, sealed_secret: &str) -> LeasedDelivery {
        LeasedDelivery {
            id: DeliveryId::new(id).unwrap(),
            pending: Pending::due(DateTime::UNIX_EPOCH),
            webhook_id: WebhookId::new(1).unwrap(),
            circuit: CircuitBreaker::default(),
            url: url.to_owned(),
            sealed_secret: sealed_secret.to_owned(),
            message: Message {
                event: "order.paid".to_owned(),
                event_id: Uuid::from_u128(1),
                delivery_id: Uuid::from_u128(2),
                body: "{}".to_owned(),
            },
        }
    }

    fn worker(queue: MockDeliveryQueue, sender: MockWebhookSender, clock: Arc<FixedClock>) -> DeliveryWorker {
        worker_with(queue, Arc::new(sender), clock)
    }

    fn worker_with(queue: MockDeliveryQueue, sender: Arc<dyn WebhookSender>, clock: Arc<FixedClock>) -> DeliveryWorker {
        let mut signer = MockSigner::new();
        signer.expect_hmac_sha256().returning(|_, _| [0; 32]);
        DeliveryWorker {
            queue: Arc::new(queue),
            sender,
            signer: Arc::new(signer),
            cipher: Arc::new(PlainCipher),
            random: Arc::new(CountingRandom::new()),
            clock,
        }
    }

    fn clock() -> Arc<FixedClock> {
        Arc::new(FixedClock::at(DateTime::UNIX_EPOCH))
    }

    #[tokio::test]
    async fn a_round_sends_what_it_leased_and_records_each_outcome() {
        let (mut queue, mut sender) = (MockDeliveryQueue::new(), MockWebhookSender::new());
        queue.expect_lease().times(1).returning(|lease, most, now| {
            assert_eq!(usize::try_from(most).unwrap(), SLOTS);
            assert_eq!((lease.owner.as_str(), lease.until), ("me", now + TimeDelta::seconds(LEASE_SECONDS)));
            let urls = ["https://good.example", "https://bad.example", "https://good.example", "https://good.example"];
            let mut due: Vec<_> = (1..).zip(urls).map(|(id, url)| leased(id, url, "sealed:key")).collect();
            due[3].sealed_secret = "of another service key".to_owned();
            Ok(due)
        });
        queue.expect_lease().returning(|_, _, _| Ok(Vec::new()));
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&recorded);
        queue.expect_record_attempt().returning(move |attempt| {
            let kept = attempt.id.get() != 3;
            seen.lock().unwrap().push(attempt);
            Ok(kept)
        });
        sender.expect_send().times(3).returning(|request| {
            let good = request.url.as_str().contains("good");
            SendOutcome::Answered(if good { 204 } else { 302 })
        });
        let round = worker(queue, sender, clock()).deliver_due("me").await.unwrap();
        assert_eq!(round, DeliveryRound { leased: 4, delivered: 1, retried: 2, failed: 0, lost: 1 });
        let mut recorded = recorded.lock().unwrap().clone();
        recorded.sort_by_key(|attempt| attempt.id);
        let statuses: Vec<_> = recorded.iter().map(|attempt| attempt.to.status()).collect();
        assert_eq!(statuses, ["delivered", "pending", "delivered", "pending"]);
        assert_eq!(recorded[3].outcome, SendOutcome::Failed(SendFailure::UnreadableSecret));
    }

    #[tokio::test]
    async fn an_expiring_lease_sends_nothing() {
        let (mut queue, clock) = (MockDeliveryQueue::new(), clock());
        let slow = Arc::clone(&clock);
        queue.expect_lease().times(1).returning(move |_, _, _| {
            slow.advance(TimeDelta::seconds(LEASE_SECONDS - MARGIN_SECONDS + 1));
            Ok(vec![leased(1, "https://good.example", "sealed:key")])
        });
        queue.expect_lease().returning(|_, _, _| Ok(Vec::new()));
        let round = worker(queue, MockWebhookSender::new(), clock).deliver_due("me").await.unwrap();
        assert_eq!(round, DeliveryRound { leased: 1, lost: 1, ..DeliveryRound::default() });
    }

    /// Counts how many attempts run at the same time.
    #[derive(Default)]
    struct Counting {
        running: AtomicUsize,
        most: AtomicUsize,
    }

    #[async_trait::async_trait]
    impl WebhookSender for Counting {
        async fn send(&self, _: DeliveryRequest) -> SendOutcome {
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(running, Ordering::SeqCst);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            self.running.fetch_sub(1, Ordering::SeqCst);
            SendOutcome::Answered(200)
        }
    }

    #[tokio::test]
    async fn as_many_deliveries_are_sent_at_the_same_time_as_there_are_slots_and_no_more() {
        let mut queue = MockDeliveryQueue::new();
        let left = Mutex::new(1..=200_i64);
        queue.expect_lease().returning(move |_, most, _| {
            let due = left.lock().unwrap().by_ref().take(usize::try_from(most).unwrap()).collect::<Vec<_>>();
            Ok(due.into_iter().map(|id| leased(id, "https://good.example", "sealed:key")).collect())
        });
        queue.expect_record_attempt().returning(|_| Ok(true));
        let sender = Arc::new(Counting::default());
        let worker = worker_with(queue, sender.clone(), clock());
        assert_eq!(worker.deliver_due("me").await.unwrap().delivered, 200);
        assert_eq!(sender.most.load(Ordering::SeqCst), SLOTS);
    }

    /// Never answers at one address, and at once at all others.
    struct Hanging(tokio::sync::mpsc::UnboundedSender<String>);

    #[async_trait::async_trait]
    impl WebhookSender for Hanging {
        async fn send(&self, request: DeliveryRequest) -> SendOutcome {
            if request.url.as_str().contains("bad") {
                pending::<()>().await;
            }
            self.0.send(request.url.as_str().to_owned()).unwrap();
            SendOutcome::Answered(200)
        }
    }

    #[tokio::test]
    async fn deliveries_due_while_a_receiver_hangs_are_sent_at_once() {
        let mut queue = MockDeliveryQueue::new();
        let looks = AtomicUsize::new(0);
        queue.expect_lease().returning(move |_, _, _| {
            Ok(match looks.fetch_add(1, Ordering::SeqCst) {
                0 => vec![leased(1, "https://bad.example", "sealed:key")],
                4 => vec![leased(2, "https://good.example", "sealed:key")],
                _ => Vec::new(),
            })
        });
        queue.expect_record_attempt().withf(|attempt| attempt.id.get() == 2).times(1).returning(|_| Ok(true));
        let (reported, mut sent) = tokio::sync::mpsc::unbounded_channel();
        let sender = Arc::new(Hanging(reported));
        let worker = worker_with(queue, sender, clock());
        let working = worker.deliver_while("me", || true, tokio::task::yield_now);
        let (mut working, mut sending) = (pin!(working), pin!(sent.recv()));
        let Either::Right((Some(url), _)) = select(&mut working, &mut sending).await else {
            panic!("nothing was sent")
        };
        assert!(url.contains("good"), "{url}");
    }

    #[tokio::test]
    async fn a_worker_that_is_to_end_waits_for_its_attempts_and_for_nothing_else() {
        let (mut queue, ends) = (MockDeliveryQueue::new(), Arc::new(AtomicUsize::new(0)));
        let reported = Arc::clone(&ends);
        queue.expect_lease().times(1).returning(move |_, _, _| {
            reported.store(1, Ordering::SeqCst);
            Ok(vec![leased(1, "https://good.example", "sealed:key")])
        });
        queue.expect_record_attempt().times(1).returning(|_| Ok(true));
        // Answers with a delay.
        let sender = Arc::new(Counting::default());
        let worker = worker_with(queue, sender, clock());
        let pauses = AtomicUsize::new(0);
        let pause = || {
            pauses.fetch_add(1, Ordering::SeqCst);
            std::future::ready(())
        };
        let round = worker.deliver_while("me", || ends.load(Ordering::SeqCst) == 0, pause).await.unwrap();
        assert_eq!((round.delivered, pauses.load(Ordering::SeqCst)), (1, 0), "pauses end at once now: it would spin");
    }

    #[tokio::test]
    async fn a_receiver_that_hangs_is_noted_with_the_attempt() {
        let (mut queue, mut sender) = (MockDeliveryQueue::new(), MockWebhookSender::new());
        let once = || Ok(vec![leased(1, "https://bad.example", "sealed:key")]);
        queue.expect_lease().times(1).returning(move |_, _, _| once());
        queue.expect_lease().returning(|_, _, _| Ok(Vec::new()));
        sender.expect_send().returning(|_| SendOutcome::Failed(SendFailure::TimedOut));
        queue
            .expect_record_attempt()
            .withf(|attempt| (attempt.circuit.timeouts(), attempt.circuit_after.timeouts()) == (0, 1))
            .times(1)
            .returning(|_| Ok(true));
        assert_eq!(worker(queue, sender, clock()).deliver_due("me").await.unwrap().retried, 1);
    }

    #[tokio::test]
    async fn a_storage_failure_with_one_delivery_does_not_stop_the_others() {
        let (mut queue, mut sender) = (MockDeliveryQueue::new(), MockWebhookSender::new());
        queue
            .expect_lease()
            .times(1)
            .returning(|_, _, _| Ok((1..=3).map(|id| leased(id, "https://good.example", "sealed:key")).collect()));
        queue.expect_lease().returning(|_, _, _| Ok(Vec::new()));
        queue.expect_record_attempt().times(3).returning(|attempt| match attempt.id.get() {
            1 => Err(StoreError::Unavailable("gone".to_owned())),
            _ => Ok(true),
        });
        sender.expect_send().times(3).returning(|_| SendOutcome::Answered(200));
        assert!(worker(queue, sender, clock()).deliver_due("me").await.is_err());
    }
}
