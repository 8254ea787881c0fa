use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::testing::{CountingRandom, PlainCipher, app_scope};
use kontor_kernel::{CallbackAttemptId, CounterpartyId, ExposeSecret, FixedClock, Phone, TokenId};

use super::{CallbackLogin, CallbackStatus};
use crate::model::{
    AttemptChange, AttemptState, CallState, CallbackAttempt, CallbackCredentials, CallbackNumber, CheckId, ClientNonce,
    Device, ExchangeOutcome, SessionToken, TokenLifetimes,
};
use crate::ports::{
    CallCheckError, CallNotification, ClaimError, ExpectedCall, MockCallNotificationParser, MockCallVerifier,
    MockCallbackAttempts,
};
use crate::{CallNotificationError, CallbackLoginError};

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn id() -> CallbackAttemptId {
    CallbackAttemptId::new(5).unwrap()
}

fn nonce() -> ClientNonce {
    ClientNonce::parse(&"n".repeat(32)).unwrap()
}

fn credentials() -> CallbackCredentials {
    CallbackCredentials { session_token: SessionToken::parse("s").unwrap(), client_nonce: nonce() }
}

fn attempt(state: AttemptState) -> CallbackAttempt {
    CallbackAttempt {
        id: id(),
        nonce_fingerprint: format!("plain:callback-nonce:2:8:{}", "n".repeat(32)),
        check: CheckId::parse("1-2").unwrap(),
        state,
        expires_at: START + TimeDelta::minutes(5),
    }
}

fn unavailable() -> CallCheckError {
    CallCheckError::Unavailable("down".to_owned())
}

struct Bench {
    attempts: MockCallbackAttempts,
    verifier: MockCallVerifier,
    notices: MockCallNotificationParser,
    at: DateTime<Utc>,
}

impl Bench {
    fn new() -> Self {
        let (attempts, verifier) = (MockCallbackAttempts::new(), MockCallVerifier::new());
        Self { attempts, verifier, notices: MockCallNotificationParser::new(), at: START }
    }

    /// Creates a test with one stored attempt. `may_ask` is `true` if the provider may be queried.
    fn with(state: AttemptState, may_ask: bool) -> Self {
        let mut bench = Self::new();
        bench
            .attempts
            .expect_find()
            .returning(move |_, session| Ok((session == "plain:callback-session:2:8:s").then(|| attempt(state))));
        bench.attempts.expect_may_ask().returning(move |_, _, at, not_since| {
            assert_eq!(at - not_since, TimeDelta::seconds(1));
            Ok(may_ask)
        });
        bench
    }

    fn login(self) -> CallbackLogin {
        CallbackLogin {
            attempts: Arc::new(self.attempts),
            verifier: Arc::new(self.verifier),
            notices: Arc::new(self.notices),
            clock: Arc::new(FixedClock::at(self.at)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
            lifetimes: TokenLifetimes::default(),
        }
    }

    /// The provider answers once.
    fn answers(mut self, answer: Result<CallState, CallCheckError>) -> Self {
        self.verifier.expect_call_state().once().return_once(move |_| answer);
        self
    }

    /// Expects one stored change.
    fn stores(mut self, expected: AttemptChange) -> Self {
        self.attempts.expect_change().withf(move |_, change, _| *change == expected).once().returning(
            |_, change, at| {
                Ok(match change {
                    AttemptChange::Verified { expires_at } => {
                        CallbackAttempt { expires_at, ..attempt(AttemptState::Verified) }
                    }
                    AttemptChange::Expired => CallbackAttempt { expires_at: at, ..attempt(AttemptState::Expired) },
                })
            },
        );
        self
    }
}

fn verified() -> AttemptChange {
    AttemptChange::Verified { expires_at: START + TimeDelta::minutes(5) }
}

#[tokio::test]
async fn the_secrets_are_stored_as_fingerprints_before_the_provider_is_called() {
    let mut bench = Bench::new();
    let mut order = mockall::Sequence::new();
    bench
        .attempts
        .expect_begin()
        .withf(|new| {
            new.nonce_fingerprint.starts_with("plain:callback-nonce:2:8:nnn")
                && new.session_fingerprint.starts_with("plain:callback-session:2:8:")
                && new.expires_at == START + TimeDelta::minutes(5)
                && new.phone_held_until == START + TimeDelta::seconds(60)
        })
        .once()
        .in_sequence(&mut order)
        .returning(|_| Ok(id()));
    bench.verifier.expect_expect_call().once().in_sequence(&mut order).returning(|_| {
        Ok(ExpectedCall {
            check: CheckId::parse("1-2").unwrap(),
            number: CallbackNumber::parse("78005008275").unwrap(),
        })
    });
    bench
        .attempts
        .expect_open()
        .withf(|_, check, expires_at| check.as_str() == "1-2" && *expires_at == START + TimeDelta::minutes(5))
        .once()
        .in_sequence(&mut order)
        .returning(|_, _, _| Ok(()));
    let started = bench.login().init(app_scope(2, 8), &Phone::parse("79001234567").unwrap(), &nonce()).await.unwrap();
    assert_eq!(started.number.to_string(), "78005008275");
    assert_eq!(started.session_token.as_secret().expose_secret().len(), 64);
}

#[tokio::test]
async fn a_refused_attempt_makes_no_call() {
    let refused = async |error: ClaimError| {
        let mut bench = Bench::new();
        bench.attempts.expect_begin().return_once(move |_| Err(error));
        bench.login().init(app_scope(2, 8), &Phone::parse("79001234567").unwrap(), &nonce()).await.unwrap_err()
    };
    assert!(matches!(refused(ClaimError::NonceUsed).await, CallbackLoginError::SessionAlreadyStarted));
    let held = refused(ClaimError::PhoneHeld { until: START }).await;
    assert!(matches!(held, CallbackLoginError::ChallengeAlreadyActive { until } if until == START));
}

#[tokio::test]
async fn a_set_up_that_fails_frees_the_phone_and_is_not_repeated() {
    for error in
        [unavailable(), CallCheckError::RateLimited("231".to_owned()), CallCheckError::BadPhone("202".to_owned())]
    {
        let (mut bench, expected) = (Bench::new(), error.clone());
        bench.attempts.expect_begin().returning(|_| Ok(id()));
        bench.verifier.expect_expect_call().once().return_once(move |_| Err(error));
        bench.attempts.expect_abandon().once().returning(|_| Ok(()));
        let refused =
            bench.login().init(app_scope(2, 8), &Phone::parse("79001234567").unwrap(), &nonce()).await.unwrap_err();
        assert!(matches!(refused, CallbackLoginError::NotStarted(why) if why == expected));
    }
}

#[tokio::test]
async fn an_attempt_is_known_by_both_secrets() {
    let refused = async |session: &str, nonce: &str| {
        let (session_token, client_nonce) = (SessionToken::parse(session), ClientNonce::parse(nonce));
        let wrong = CallbackCredentials { session_token: session_token.unwrap(), client_nonce: client_nonce.unwrap() };
        let status = Bench::with(AttemptState::Verified, false).login().status(app_scope(2, 8), &wrong).await;
        let exchange = Bench::with(AttemptState::Verified, false).login().exchange(app_scope(2, 8), &wrong, None).await;
        assert!(matches!(status, Err(CallbackLoginError::UnknownAttempt)));
        assert!(matches!(exchange, Err(CallbackLoginError::UnknownAttempt)));
    };
    refused("other", &"n".repeat(32)).await;
    refused("s", &"m".repeat(32)).await;
    let other = app_scope(2, 9);
    let moved = Bench::with(AttemptState::Verified, false).login().status(other, &credentials()).await;
    assert!(matches!(moved, Err(CallbackLoginError::UnknownAttempt)));
}

#[tokio::test]
async fn a_status_check_respects_the_query_interval() {
    let look = async |bench: Bench| bench.login().status(app_scope(2, 8), &credentials()).await.unwrap();
    let pending = CallbackStatus {
        state: AttemptState::Pending,
        expires_at: START + TimeDelta::minutes(5),
        now: START,
        failure: None,
    };
    assert_eq!(look(Bench::with(AttemptState::Pending, false)).await, pending);
    assert_eq!(pending.remaining_seconds(), 300);
    assert_eq!(look(Bench::with(AttemptState::Pending, true).answers(Ok(CallState::Waiting))).await, pending);
    let troubled = look(Bench::with(AttemptState::Pending, true).answers(Err(unavailable()))).await;
    assert_eq!(troubled, CallbackStatus { failure: Some(unavailable()), ..pending.clone() });
    let confirmed = Bench::with(AttemptState::Pending, true).answers(Ok(CallState::Confirmed)).stores(verified());
    assert_eq!(look(confirmed).await, CallbackStatus { state: AttemptState::Verified, ..pending.clone() });
    let over = Bench::with(AttemptState::Pending, true).answers(Ok(CallState::Ended)).stores(AttemptChange::Expired);
    let over = look(over).await;
    assert_eq!((over.state, over.expires_at, over.remaining_seconds()), (AttemptState::Expired, START, 0));
    assert_eq!(look(Bench::with(AttemptState::Verified, true)).await.state, AttemptState::Verified);
    let late = Bench { at: START + TimeDelta::minutes(5), ..Bench::with(AttemptState::Verified, true) };
    assert_eq!(look(late).await.state, AttemptState::Expired);
}

#[tokio::test]
async fn an_exchange_needs_the_call() {
    let refused = async |bench: Bench| bench.login().exchange(app_scope(2, 8), &credentials(), None).await.unwrap_err();
    let waiting = Bench::with(AttemptState::Pending, true).answers(Ok(CallState::Waiting));
    assert!(matches!(refused(waiting).await, CallbackLoginError::NotVerified));
    let unasked = Bench::with(AttemptState::Pending, false);
    assert!(matches!(refused(unasked).await, CallbackLoginError::NotVerified));
    let silent = Bench::with(AttemptState::Pending, true).answers(Err(unavailable()));
    assert!(matches!(refused(silent).await, CallbackLoginError::VerificationUnavailable(why) if why == unavailable()));
    for state in [AttemptState::Pending, AttemptState::Verified] {
        let late = Bench { at: START + TimeDelta::minutes(5), ..Bench::with(state, true) };
        assert!(matches!(refused(late).await, CallbackLoginError::Expired));
    }
    assert!(matches!(refused(Bench::with(AttemptState::Expired, true)).await, CallbackLoginError::Expired));
    for (outcome, expected) in [
        (ExchangeOutcome::NotVerified, "the attempt has ended"),
        (ExchangeOutcome::SeveralCustomers, "several customers have this phone"),
    ] {
        let mut bench = Bench::with(AttemptState::Verified, false);
        bench.attempts.expect_exchange().once().return_once(move |_| Ok(outcome));
        assert_eq!(refused(bench).await.to_string(), expected);
    }
}

#[tokio::test]
async fn a_confirmed_call_gives_a_token() {
    let mut bench = Bench::with(AttemptState::Pending, true).answers(Ok(CallState::Confirmed)).stores(verified());
    bench
        .attempts
        .expect_exchange()
        .withf(|exchange| {
            exchange.attempt == id()
                && exchange.app == app_scope(2, 8)
                && exchange.token.device.as_ref().is_some_and(|device| device.as_str() == "M")
                && exchange.token.expires_at == START + TimeDelta::days(365)
        })
        .once()
        .returning(|_| {
            Ok(ExchangeOutcome::SignedIn {
                counterparty_id: CounterpartyId::new(4).unwrap(),
                token_id: TokenId::new(6).unwrap(),
            })
        });
    let device = Device::parse_optional("M").unwrap();
    let signed = bench.login().exchange(app_scope(2, 8), &credentials(), device).await.unwrap();
    assert_eq!((signed.scope.counterparty_id.get(), signed.scope.app), (4, app_scope(2, 8)));
    assert!(signed.token.value.expose_secret().starts_with("6|"));
}

#[tokio::test]
async fn a_signed_message_moves_the_attempt_it_names() {
    let bench = |state| {
        let mut bench = Bench::new();
        bench.notices.expect_signature().returning(|entries| Some(format!("sum of {}", entries.len())));
        bench.notices.expect_read().returning(|entry| {
            let (check, state) = entry.split_once(' ')?;
            let state = if state == "401" { CallState::Confirmed } else { CallState::Ended };
            Some(CallNotification { check: CheckId::parse(check).unwrap(), state })
        });
        let known = move |check: &CheckId| Ok((check.as_str() == "1-2").then(|| attempt(state)));
        bench.attempts.expect_find_by_check().returning(known);
        bench
    };
    let entries = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let lines = entries(&["sms", "9-9 401", "1-2 401"]);
    bench(AttemptState::Pending).stores(verified()).login().notified(&lines, "SUM OF 3").await.unwrap();
    let over = entries(&["1-2 402"]);
    bench(AttemptState::Pending).stores(AttemptChange::Expired).login().notified(&over, "sum of 1").await.unwrap();
    // Repeated, late or after the end: nothing is stored.
    for state in [AttemptState::Verified, AttemptState::Expired] {
        bench(state).login().notified(&lines, "sum of 3").await.unwrap();
    }
    let late = Bench { at: START + TimeDelta::minutes(5), ..bench(AttemptState::Pending) };
    late.login().notified(&lines, "sum of 3").await.unwrap();
}

#[tokio::test]
async fn a_message_without_the_signature_is_refused() {
    for (expected, given) in [(Some("sum"), "other"), (Some("sum"), ""), (None, ""), (None, "sum")] {
        let mut bench = Bench::new();
        bench.notices.expect_signature().return_once(move |_| expected.map(str::to_owned));
        let refused = bench.login().notified(&["1-2 401".to_owned()], given).await;
        assert!(matches!(refused, Err(CallNotificationError::Forged)));
    }
}
