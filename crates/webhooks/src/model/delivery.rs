//! Deliveries, slots of endpoints for deliveries that run at the same time, and the circuit breaker of an endpoint that
//! fails.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use kontor_kernel::{ApplicationId, DeliveryId, Name, ProjectId, WebhookId, Word as _};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

/// Minutes between a failed attempt and the next one. After the last entry the delivery is `failed`.
pub const RETRY_AFTER_MINUTES: [i64; 5] = [1, 5, 30, 120, 720];

/// Delivery of one event to one webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Identifier of the delivery.
    pub id: DeliveryId,
    /// Webhook that receives it.
    pub webhook_id: WebhookId,
    /// `X-Webhook-Event-Id`: the same for every webhook and every attempt.
    pub event_id: Uuid,
    /// `X-Webhook-Delivery-Id`: the same for every attempt.
    pub delivery_id: Uuid,
    /// `X-Webhook-Event`, such as `order.paid`.
    pub event: String,
    /// Current state.
    pub state: DeliveryState,
    /// HTTP status of the last attempt; `None` without an answer.
    pub response_status: Option<u16>,
    /// Error of the last attempt.
    pub last_error: Option<String>,
    /// Time at which the event was fanned out.
    pub created_at: DateTime<Utc>,
}

/// Delivery in a list of all webhooks of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectDelivery {
    /// The delivery.
    pub delivery: Delivery,
    /// Application of the webhook.
    pub application_id: ApplicationId,
    /// Name of the webhook.
    pub webhook_name: Option<Name>,
}

/// Word of a [`DeliveryState`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryStatus {
    /// Waiting for its next attempt.
    Pending,
    /// The receiver accepted it.
    Delivered,
    /// The schedule is used up.
    Failed,
}

/// State of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// Waiting for its next attempt.
    Pending(Pending),
    /// The receiver accepted it.
    Delivered {
        /// Attempts made, including the accepted one.
        attempts: u32,
        /// Time of acceptance.
        delivered_at: DateTime<Utc>,
    },
    /// The schedule is used up; an employee may resend it.
    Failed {
        /// Attempts made.
        attempts: u32,
    },
}

/// A stored delivery whose columns contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a delivery cannot be `{0}` with these times")]
pub struct InvalidDeliveryState(String);

impl DeliveryState {
    /// Restores the state from the stored columns.
    pub fn restore(
        status: &str,
        attempts: u32,
        next_attempt_at: Option<DateTime<Utc>>,
        delivered_at: Option<DateTime<Utc>>,
    ) -> Result<Self, InvalidDeliveryState> {
        match (status, next_attempt_at, delivered_at) {
            ("pending", Some(next_attempt_at), _) => Ok(Self::Pending(Pending { attempts, next_attempt_at })),
            ("delivered", _, Some(delivered_at)) => Ok(Self::Delivered { attempts, delivered_at }),
            ("failed", _, _) => Ok(Self::Failed { attempts }),
            _ => Err(InvalidDeliveryState(status.to_owned())),
        }
    }

    /// Returns `pending`, `delivered` or `failed`.
    pub fn status(self) -> &'static str {
        let status = match self {
            Self::Pending(_) => DeliveryStatus::Pending,
            Self::Delivered { .. } => DeliveryStatus::Delivered,
            Self::Failed { .. } => DeliveryStatus::Failed,
        };
        status.word()
    }

    /// Attempts made since the delivery was created or last resent.
    pub fn attempts(self) -> u32 {
        match self {
            Self::Pending(Pending { attempts, .. }) | Self::Delivered { attempts, .. } | Self::Failed { attempts } => {
                attempts
            }
        }
    }

    /// Time at which the next attempt is due.
    pub fn next_attempt_at(self) -> Option<DateTime<Utc>> {
        if let Self::Pending(pending) = self { Some(pending.next_attempt_at) } else { None }
    }

    /// Time at which the receiver accepted the delivery.
    pub fn delivered_at(self) -> Option<DateTime<Utc>> {
        if let Self::Delivered { delivered_at, .. } = self { Some(delivered_at) } else { None }
    }

    /// Restarts the schedule; `None` for a delivery that is still pending.
    pub fn resend(self, at: DateTime<Utc>) -> Option<Pending> {
        match self {
            Self::Pending(_) => None,
            Self::Delivered { .. } | Self::Failed { .. } => Some(Pending::due(at)),
        }
    }
}

/// A delivery that waits for its next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    attempts: u32,
    next_attempt_at: DateTime<Utc>,
}

impl Pending {
    /// Creates the state of a delivery that was never sent and is due at `at`.
    pub fn due(at: DateTime<Utc>) -> Self {
        Self { attempts: 0, next_attempt_at: at }
    }

    /// Attempts made so far.
    pub fn attempts(self) -> u32 {
        self.attempts
    }

    /// Time at which the next attempt is due.
    pub fn next_attempt_at(self) -> DateTime<Utc> {
        self.next_attempt_at
    }

    /// Returns the state that follows an attempt that ended at `at`.
    pub fn after(self, outcome: &SendOutcome, at: DateTime<Utc>) -> DeliveryState {
        let attempts = self.attempts.saturating_add(1);
        if outcome.is_accepted() {
            return DeliveryState::Delivered { attempts, delivered_at: at };
        }
        let pause = usize::try_from(self.attempts).ok().and_then(|made| RETRY_AFTER_MINUTES.get(made));
        match pause {
            Some(minutes) => {
                DeliveryState::Pending(Self { attempts, next_attempt_at: at + TimeDelta::minutes(*minutes) })
            }
            None => DeliveryState::Failed { attempts },
        }
    }
}

/// Outcome of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendOutcome {
    /// The receiver answered with this HTTP status.
    Answered(u16),
    /// No answer.
    Failed(SendFailure),
}

impl SendOutcome {
    /// Returns `true` for any `2xx`. Redirects are not followed and count as failures.
    pub fn is_accepted(self) -> bool {
        matches!(self, Self::Answered(200..=299))
    }

    /// HTTP status of the answer, if any.
    pub fn response_status(self) -> Option<u16> {
        if let Self::Answered(status) = self { Some(status) } else { None }
    }

    /// Reason of the failure in plain text, for staff.
    pub fn error(self) -> Option<String> {
        match self {
            Self::Answered(200..=299) => None,
            Self::Answered(status) => Some(format!("the receiver answered {status}")),
            Self::Failed(failure) => Some(failure.to_string()),
        }
    }
}

/// Reasons why an attempt got no answer. The texts are shown to staff and reveal nothing about the network of
/// the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendFailure {
    /// No answer before the timeout.
    #[error("the receiver did not answer within 10 seconds")]
    TimedOut,
    /// The address, or an address its name resolves to, may not be called.
    #[error("the address is internal; internal addresses are not called")]
    ForbiddenAddress,
    /// The name does not resolve.
    #[error("the host name was not found")]
    UnknownHost,
    /// No connection, or no valid TLS certificate.
    #[error("the connection to the receiver failed")]
    NoConnection,
    /// The connection broke, or the answer was not HTTP.
    #[error("the response of the receiver could not be read")]
    BrokenAnswer,
    /// The stored secret was sealed with another service key.
    #[error("the secret of the webhook cannot be decrypted; rotate it")]
    UnreadableSecret,
}

/// Event that an employee sends to one webhook to test its receiver. It is signed and retried as any other event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestDelivery {
    /// Project of the webhook.
    pub project_id: ProjectId,
    /// Application of the webhook.
    pub application_id: ApplicationId,
    /// Webhook that receives it.
    pub webhook_id: WebhookId,
    /// `X-Webhook-Event-Id`.
    pub event_id: Uuid,
    /// `X-Webhook-Delivery-Id`.
    pub delivery_id: Uuid,
    /// Time of the request.
    pub at: DateTime<Utc>,
}

impl TestDelivery {
    /// `X-Webhook-Event`. No change of a record causes this event.
    pub const EVENT: &str = "ping";

    /// Returns the body that the webhook receives. Its values need no escapes.
    pub fn body(&self) -> String {
        format!(
            r#"{{"id":"{}","event":"{}","created_at":"{}","data":{{"webhook_id":{},"application_id":{},"project_id":{}}}}}"#,
            self.event_id,
            Self::EVENT,
            self.at.to_rfc3339_opts(SecondsFormat::Secs, true),
            self.webhook_id,
            self.application_id,
            self.project_id,
        )
    }
}

/// Maximum attempts at one endpoint at the same time.
pub const MAX_PER_ENDPOINT: usize = 8;
/// Pause after the first timeout of an endpoint, in seconds; doubled with every further timeout. Longer than an
/// attempt takes, so that attempts that began together count once.
const INITIAL_BACKOFF_SECONDS: i64 = 15;
/// Maximum pause, in seconds.
const MAX_BACKOFF_SECONDS: i64 = 15 * 60;

/// Circuit breaker of an endpoint. An endpoint that times out is paused, each time longer. After the pause it
/// gets one delivery at a time until it answers with any status. The schedule of its deliveries counts from
/// their attempts, so waiting uses up no attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CircuitBreaker {
    timeouts: u32,
    paused_until: Option<DateTime<Utc>>,
}

impl CircuitBreaker {
    /// Restores the state from the stored columns.
    pub fn restore(timeouts: u32, paused_until: Option<DateTime<Utc>>) -> Self {
        Self { timeouts, paused_until }
    }

    /// Number of timeouts in a row.
    pub fn timeouts(self) -> u32 {
        self.timeouts
    }

    /// Time until which nothing is sent to the endpoint.
    pub fn paused_until(self) -> Option<DateTime<Utc>> {
        self.paused_until
    }

    /// Returns the number of attempts that may begin in addition to the `running` ones.
    pub fn free_slots(self, running: usize, now: DateTime<Utc>) -> usize {
        let most = match (self.timeouts, self.paused_until) {
            (_, Some(until)) if until > now => 0,
            (0, _) => MAX_PER_ENDPOINT,
            _ => 1,
        };
        most.saturating_sub(running)
    }

    /// Returns the state that follows an attempt that ended at `at`.
    #[must_use]
    pub fn after(self, outcome: &SendOutcome, at: DateTime<Utc>) -> Self {
        match outcome {
            SendOutcome::Failed(SendFailure::TimedOut) => {
                let doubled =
                    1_i64.checked_shl(self.timeouts).and_then(|times| times.checked_mul(INITIAL_BACKOFF_SECONDS));
                let pause = doubled.filter(|pause| (0..MAX_BACKOFF_SECONDS).contains(pause));
                let pause = TimeDelta::seconds(pause.unwrap_or(MAX_BACKOFF_SECONDS));
                Self { timeouts: self.timeouts.saturating_add(1).min(1_000), paused_until: Some(at + pause) }
            }
            SendOutcome::Answered(_) => Self::default(),
            // These failures contain no information about the response time.
            SendOutcome::Failed(_) => self,
        }
    }
}

/// Maximum attempts at the endpoints of one project at the same time.
pub const MAX_PER_PROJECT: usize = 16;

/// Endpoint with due deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingEndpoint {
    /// Number of its webhook.
    pub webhook: i64,
    /// Number of its project.
    pub project: i64,
    /// Time at which its oldest delivery became due.
    pub since: DateTime<Utc>,
    /// Circuit breaker of the endpoint.
    pub circuit: CircuitBreaker,
    /// Attempts at it that are in progress.
    pub running: usize,
}

/// Returns the number of attempts that may begin at an endpoint, with the attempts in progress at it and in its
/// project.
pub fn free_slots(circuit: CircuitBreaker, running: usize, of_project: usize, now: DateTime<Utc>) -> usize {
    circuit.free_slots(running, now).min(MAX_PER_PROJECT.saturating_sub(of_project))
}

/// Shares free slots among endpoints. Each slot goes to the project, and in it to the endpoint, with the fewest
/// attempts in progress. Among equals the one that has waited longest wins. Returns how many deliveries each
/// endpoint may take; there may be fewer. `running` counts the attempts in progress by project.
pub fn allocate_slots(
    waiting: &[WaitingEndpoint],
    mut running: BTreeMap<i64, usize>,
    free: usize,
) -> Vec<(i64, usize)> {
    let mut shares: Vec<(&WaitingEndpoint, usize)> = waiting.iter().map(|endpoint| (endpoint, 0)).collect();
    for _ in 0..free {
        let of_project = |endpoint: &WaitingEndpoint| running.get(&endpoint.project).copied().unwrap_or_default();
        let next = shares
            .iter_mut()
            .filter(|(endpoint, share)| {
                free_slots(endpoint.circuit, endpoint.running + share, of_project(endpoint), endpoint.since) > 0
            })
            .min_by_key(|(endpoint, share)| (of_project(endpoint), endpoint.running + *share, endpoint.since));
        let Some((endpoint, share)) = next else { break };
        *share += 1;
        *running.entry(endpoint.project).or_default() += 1;
    }
    shares.into_iter().filter(|(_, share)| *share > 0).map(|(endpoint, share)| (endpoint.webhook, share)).collect()
}

#[cfg(test)]
mod tests {
    use kontor_kernel::{Clock, FixedClock};
    use proptest::prelude::*;

    use super::*;
    use crate::model::{MAX_PER_ENDPOINT, RETRY_AFTER_MINUTES};

    fn failure() -> impl Strategy<Value = SendOutcome> {
        prop_oneof![
            (100_u16..600)
                .prop_filter("a success", |status| !(200..300).contains(status))
                .prop_map(SendOutcome::Answered),
            prop::sample::select(vec![SendFailure::TimedOut, SendFailure::NoConnection, SendFailure::ForbiddenAddress])
                .prop_map(SendOutcome::Failed),
        ]
    }

    /// Sends until nothing is left to send; every attempt takes `seconds`. Returns the start times of the
    /// attempts, in minutes.
    fn run(clock: &FixedClock, outcomes: &[SendOutcome], seconds: i64) -> (Vec<i64>, DeliveryState) {
        let start = clock.now();
        let mut begun = Vec::new();
        let mut state = DeliveryState::Pending(Pending::due(start));
        for outcome in outcomes {
            let DeliveryState::Pending(pending) = state else { break };
            clock.advance(pending.next_attempt_at() - clock.now());
            begun.push(
                (clock.now() - start - TimeDelta::seconds(seconds) * i32::try_from(begun.len()).unwrap()).num_minutes(),
            );
            clock.advance(TimeDelta::seconds(seconds));
            state = pending.after(outcome, clock.now());
        }
        (begun, state)
    }

    proptest! {
        #[test]
        fn failures_follow_the_schedule_and_six_of_them_end_it(
            outcomes in prop::collection::vec(failure(), 0..12), seconds in 0_i64..=10,
        ) {
            let clock = FixedClock::at(DateTime::UNIX_EPOCH);
            let (begun, state) = run(&clock, &outcomes, seconds);
            let schedule = [0, 1, 6, 36, 156, 876];
            let sent = outcomes.len().min(schedule.len());
            prop_assert_eq!(&begun[..], &schedule[..sent]);
            prop_assert_eq!(state.attempts(), u32::try_from(sent).unwrap());
            prop_assert_eq!(state.status(), if sent == schedule.len() { "failed" } else { "pending" });
            prop_assert_eq!(state.next_attempt_at().is_some(), sent < schedule.len());
        }

        #[test]
        fn any_2xx_ends_the_schedule(
            failures in prop::collection::vec(failure(), 0..6), status in 200_u16..300, later in failure(),
        ) {
            let clock = FixedClock::at(DateTime::UNIX_EPOCH);
            let outcomes: Vec<_> = failures.iter().copied().chain([SendOutcome::Answered(status), later]).collect();
            let (begun, state) = run(&clock, &outcomes, 0);
            prop_assert_eq!(begun.len(), failures.len() + 1);
            prop_assert_eq!(state.status(), "delivered");
            prop_assert_eq!(state.delivered_at(), Some(clock.now()));
        }
    }

    #[test]
    fn a_resend_restarts_the_schedule() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(3);
        let failed = DeliveryState::Failed { attempts: 6 };
        assert_eq!(failed.resend(now), Some(Pending::due(now)));
        let delivered = DeliveryState::Delivered { attempts: 2, delivered_at: now };
        assert_eq!(delivered.resend(now), Some(Pending::due(now)));
        assert_eq!(DeliveryState::Pending(Pending::due(now)).resend(now), None);
    }

    #[test]
    fn a_state_survives_its_columns_and_contradictions_are_found() {
        let now = DateTime::UNIX_EPOCH;
        let states = [
            DeliveryState::Pending(Pending { attempts: 3, next_attempt_at: now }),
            DeliveryState::Delivered { attempts: 1, delivered_at: now },
            DeliveryState::Failed { attempts: 6 },
        ];
        for state in states {
            let restored =
                DeliveryState::restore(state.status(), state.attempts(), state.next_attempt_at(), state.delivered_at());
            assert_eq!(restored, Ok(state));
        }
        assert!(DeliveryState::restore("pending", 0, None, None).is_err());
        assert!(DeliveryState::restore("delivered", 1, Some(now), None).is_err());
        assert!(DeliveryState::restore("lost", 1, Some(now), Some(now)).is_err());
    }

    #[test]
    fn the_body_has_the_form_of_every_event() {
        let test = TestDelivery {
            project_id: ProjectId::new(1).unwrap(),
            application_id: ApplicationId::new(2).unwrap(),
            webhook_id: WebhookId::new(3).unwrap(),
            event_id: Uuid::from_u128(4),
            delivery_id: Uuid::from_u128(5),
            at: DateTime::UNIX_EPOCH,
        };
        assert_eq!(
            test.body(),
            r#"{"id":"00000000-0000-0000-0000-000000000004","event":"ping","created_at":"1970-01-01T00:00:00Z","data":{"webhook_id":3,"application_id":2,"project_id":1}}"#
        );
    }

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const HUNG: SendOutcome = SendOutcome::Failed(SendFailure::TimedOut);

    #[test]
    fn an_endpoint_that_hangs_rests_ever_longer_up_to_a_quarter_of_an_hour() {
        let mut circuit = CircuitBreaker::default();
        let mut pauses = Vec::new();
        for _ in 0..9 {
            circuit = circuit.after(&HUNG, NOW);
            pauses.push((circuit.paused_until().unwrap() - NOW).num_seconds());
        }
        assert_eq!(pauses, [15, 30, 60, 120, 240, 480, 900, 900, 900]);
        for timeouts in [62, 63, 64, 70, u32::MAX] {
            let circuit = CircuitBreaker::restore(timeouts, None).after(&HUNG, NOW);
            assert_eq!(circuit.paused_until(), Some(NOW + TimeDelta::minutes(15)), "{timeouts}");
        }
    }

    #[test]
    fn a_lone_delivery_never_waits_for_the_rest_of_its_endpoint() {
        let mut circuit = CircuitBreaker::default();
        for minutes in RETRY_AFTER_MINUTES {
            circuit = circuit.after(&HUNG, NOW);
            assert!(circuit.paused_until().unwrap() <= NOW + TimeDelta::minutes(minutes));
        }
    }

    #[test]
    fn after_its_rest_it_is_tried_by_one_and_any_answer_opens_it() {
        let hung = CircuitBreaker::default().after(&HUNG, NOW);
        let later = hung.paused_until().unwrap();
        assert_eq!((hung.free_slots(0, NOW), hung.free_slots(0, later), hung.free_slots(1, later)), (0, 1, 0));
        let again = hung.after(&SendOutcome::Answered(500), later);
        assert_eq!(
            (again, again.free_slots(0, later), again.free_slots(9, later)),
            (CircuitBreaker::default(), MAX_PER_ENDPOINT, 0)
        );
        assert_eq!(hung.after(&SendOutcome::Failed(SendFailure::NoConnection), later), hung);
    }

    fn waiting(webhook: i64, project: i64) -> WaitingEndpoint {
        let since = DateTime::UNIX_EPOCH + TimeDelta::seconds(webhook);
        WaitingEndpoint { webhook, project, since, circuit: CircuitBreaker::default(), running: 0 }
    }

    #[test]
    fn a_busy_project_leaves_room_for_the_others() {
        let endpoints = [waiting(1, 10), waiting(2, 10), waiting(3, 20)];
        assert_eq!(allocate_slots(&endpoints, BTreeMap::new(), 4), [(1, 1), (2, 1), (3, 2)]);
        assert_eq!(allocate_slots(&endpoints, BTreeMap::from([(10, 2)]), 2), [(3, 2)]);
        assert_eq!(allocate_slots(&endpoints, BTreeMap::new(), 1), [(1, 1)]);
        assert!(
            allocate_slots(&[], BTreeMap::new(), 4).is_empty()
                && allocate_slots(&endpoints, BTreeMap::new(), 0).is_empty()
        );
    }

    #[test]
    fn neither_an_endpoint_nor_a_project_takes_all_slots() {
        assert_eq!(allocate_slots(&[waiting(1, 10)], BTreeMap::new(), 64), [(1, MAX_PER_ENDPOINT)]);
        let many: Vec<_> = (1..=9).map(|webhook| waiting(webhook, 10)).collect();
        let shares = allocate_slots(&many, BTreeMap::from([(10, 1)]), 64);
        assert_eq!(shares.iter().map(|(_, share)| share).sum::<usize>(), MAX_PER_PROJECT - 1);
    }

    #[test]
    fn the_smaller_of_both_rooms_counts() {
        let room =
            |running, of_project| free_slots(CircuitBreaker::default(), running, of_project, DateTime::UNIX_EPOCH);
        assert_eq!((room(0, 0), room(0, MAX_PER_PROJECT - 1), room(1, 9)), (MAX_PER_ENDPOINT, 1, 7));
        assert_eq!((room(MAX_PER_ENDPOINT, 0), room(0, MAX_PER_PROJECT + 1)), (0, 0));
    }

    #[test]
    fn an_endpoint_on_trial_gets_one_and_what_runs_counts() {
        let trial = WaitingEndpoint { circuit: CircuitBreaker::restore(2, None), ..waiting(1, 10) };
        let busy = WaitingEndpoint { running: MAX_PER_ENDPOINT - 1, ..waiting(2, 20) };
        assert_eq!(allocate_slots(&[trial, busy], BTreeMap::from([(20, 7)]), 64), [(1, 1), (2, 1)]);
        assert!(allocate_slots(&[WaitingEndpoint { running: 1, ..trial }], BTreeMap::new(), 64).is_empty());
    }
}
