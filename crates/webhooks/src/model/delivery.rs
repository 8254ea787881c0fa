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

#[cfg(test)]
mod tests {
    use kontor_kernel::{Clock, FixedClock};
    use proptest::prelude::*;

    use super::*;

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
    fn a_resend_starts_the_schedule_anew() {
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
}
