//! Contract of the storage ports of logins: tokens, sessions, codes, calls, employees with their passwords,
//! roles and permissions, and the clients and bots of applications. It holds for every implementation.
//!
//! Agents are part of it: their tokens, access requests and calls, and the mails about calls that wait for approval.
//!
//! Each function checks one promise of the ports and panics if it is broken. An adapter implements [`Fixture`]
//! on a fresh storage and runs every function with a storage of its own. A function names the further ports that it
//! needs.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a broken promise fails the test that runs it"
)]

mod access_requests;
mod agent_actions;
mod agents;
mod applications;
mod approval_mails;
mod employees;
mod passwords;
mod permissions;
mod phones;
mod roles;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::{AppScope, CallbackAttemptId, Contact, Email, Name, Phone, ProjectId, TokenId, UserId};

use crate::StaffRegistryError;
use crate::model::{
    AttemptChange, AttemptExchange, AttemptState, CheckId, CodeRedemption, ExchangeOutcome, Login, NewAttempt, NewCode,
    NewEmployee, NewToken, RedeemOutcome, RoleChoice, TokenOwner,
};
use crate::ports::{
    CallbackAttempts, ClaimError, CodeRepository, CustomerAccounts, MatchedPassword, QueryPurpose, SignIn,
    StaffRepository, TokenRepository,
};

pub use access_requests::*;
pub use agent_actions::*;
pub use agents::*;
pub use applications::*;
pub use approval_mails::*;
pub use employees::*;
pub use passwords::*;
pub use permissions::*;
pub use phones::*;
pub use roles::*;
pub use sessions::*;

/// Storage under test.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: TokenRepository + StaffRepository + CustomerAccounts + CodeRepository + CallbackAttempts + 'static;

    /// Returns the storage under test.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns two applications of a new project without employees and customers.
    async fn apps(&self) -> [AppScope; 2];
}

/// Number that never repeats in a process.
fn fresh() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

fn after(seconds: i64) -> DateTime<Utc> {
    noon() + TimeDelta::seconds(seconds)
}

fn token(at: DateTime<Utc>) -> NewToken {
    let fingerprint = format!("token {}", fresh());
    NewToken { fingerprint, device: None, created_at: at, expires_at: at + TimeDelta::days(1) }
}

fn phone() -> Phone {
    Phone::parse(&format!("7900{:07}", fresh())).unwrap()
}

fn contact() -> Contact {
    Contact::Phone(phone())
}

/// A customer of a new contact, to which a code was sent that is valid for five minutes.
async fn sent<F: Fixture>(fixture: &F, app: AppScope, fingerprint: &str) -> Contact {
    let (store, contact) = (fixture.store(), contact());
    store.find_or_create(app.project_id, &contact, noon()).await.unwrap();
    let code = NewCode { fingerprint: fingerprint.to_owned(), attempts: 5, created_at: noon(), expires_at: after(300) };
    store.replace(app.project_id, &contact, code).await.unwrap();
    contact
}

async fn redeemed<F: Fixture>(
    fixture: &F,
    app: AppScope,
    contact: &Contact,
    fingerprint: &str,
    at: DateTime<Utc>,
) -> RedeemOutcome {
    let redemption = CodeRedemption {
        project_id: app.project_id,
        application_id: app.application_id,
        contact: contact.clone(),
        fingerprint: fingerprint.to_owned(),
        token: token(at),
    };
    fixture.store().redeem(redemption).await.unwrap()
}

/// Under concurrent calls, one code gives one token, for the customer of its contact.
pub async fn a_code_gives_one_token<F: Fixture>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let contact = sent(fixture, app, "right").await;
    let outcomes = join_all((0..8).map(|_| redeemed(fixture, app, &contact, "right", noon()))).await;
    let signed = outcomes.iter().find_map(|outcome| match outcome {
        RedeemOutcome::SignedIn { counterparty_id, token_id } => Some((*counterparty_id, *token_id)),
        _ => None,
    });
    let (customer, token) = signed.unwrap();
    let unused = outcomes.iter().filter(|outcome| **outcome == RedeemOutcome::NoValidCode);
    assert_eq!(unused.count(), 7, "{outcomes:?}");
    let stored = store.customer_token(token).await.unwrap().unwrap();
    assert_eq!((stored.counterparty_id, stored.app.application_id), (customer, app.application_id));
    assert_eq!(store.find_or_create(app.project_id, &contact, noon()).await.unwrap(), customer);
}

/// Under concurrent calls, a code allows as many wrong attempts as it has. Then the right code is not valid either.
pub async fn wrong_attempts_use_up_a_code<F: Fixture>(fixture: &F) {
    let [app, _] = fixture.apps().await;
    let contact = sent(fixture, app, "right").await;
    let outcomes = join_all((0..12).map(|_| redeemed(fixture, app, &contact, "wrong", noon()))).await;
    let wrong = outcomes.iter().filter(|outcome| **outcome == RedeemOutcome::WrongCode);
    assert_eq!(wrong.count(), 5, "{outcomes:?}");
    let unused = outcomes.iter().filter(|outcome| **outcome == RedeemOutcome::NoValidCode);
    assert_eq!(unused.count(), 7, "{outcomes:?}");
    assert_eq!(redeemed(fixture, app, &contact, "right", noon()).await, RedeemOutcome::NoValidCode);
}

/// A code is valid until it expires or the next one is sent, and only for its own contact and project.
pub async fn a_code_is_valid_for_its_contact_and_time<F: Fixture>(fixture: &F) {
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let contact = sent(fixture, app, "first").await;
    assert_eq!(redeemed(fixture, app, &contact, "first", after(300)).await, RedeemOutcome::NoValidCode);
    let other = sent(fixture, app, "other").await;
    assert_eq!(redeemed(fixture, app, &other, "first", noon()).await, RedeemOutcome::WrongCode);
    assert_eq!(redeemed(fixture, elsewhere, &contact, "first", noon()).await, RedeemOutcome::UnknownContact);
    let code = NewCode { fingerprint: "second".to_owned(), attempts: 5, created_at: noon(), expires_at: after(300) };
    store.replace(app.project_id, &contact, code).await.unwrap();
    assert_eq!(redeemed(fixture, app, &contact, "first", noon()).await, RedeemOutcome::WrongCode);
    let signed = redeemed(fixture, app, &contact, "second", after(299)).await;
    assert!(matches!(signed, RedeemOutcome::SignedIn { .. }), "{signed:?}");
}

/// Under concurrent logins, a proven contact has one customer in a project.
pub async fn a_contact_has_one_customer<F: Fixture>(fixture: &F) {
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let contact = contact();
    let logins = join_all((0..8).map(|_| store.sign_in_customer(app, &contact, token(noon())))).await;
    let signed: Vec<_> = logins.into_iter().map(Result::unwrap).collect();
    let found = store.find_or_create(app.project_id, &contact, noon()).await.unwrap();
    assert!(signed.iter().all(|(customer, _)| *customer == found), "{signed:?}");
    for (_, token) in signed {
        assert!(store.customer_token(token).await.unwrap().is_some());
    }
    assert_ne!(store.find_or_create(elsewhere.project_id, &contact, noon()).await.unwrap(), found);
}

/// A revoked token is not found. Only its owner revokes it, and the other tokens of the owner stay.
pub async fn a_revoked_token_is_gone<F: Fixture>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let (annas, boriss) = (contact(), contact());
    let (anna, first) = store.sign_in_customer(app, &annas, token(noon())).await.unwrap();
    let (_, second) = store.sign_in_customer(app, &annas, token(noon())).await.unwrap();
    let (boris, third) = store.sign_in_customer(app, &boriss, token(noon())).await.unwrap();
    let present = async |token: TokenId| store.customer_token(token).await.unwrap().is_some();
    // An employee may have the same number as a customer.
    let namesake = TokenOwner::Staff(UserId::new(anna.get()).unwrap());
    for outsider in [TokenOwner::Customer(boris), namesake] {
        store.revoke(outsider, first).await.unwrap();
    }
    store.revoke_all(namesake).await.unwrap();
    assert!(present(first).await && present(second).await && present(third).await);
    for _ in 0..2 {
        store.revoke(TokenOwner::Customer(anna), first).await.unwrap();
        assert!(!present(first).await && present(second).await, "one token is revoked");
    }
    let (_, fourth) = store.sign_in_customer(app, &annas, token(noon())).await.unwrap();
    store.revoke_all(TokenOwner::Customer(anna)).await.unwrap();
    assert!(!present(second).await && !present(fourth).await && present(third).await);
}

/// A new employee of a project whose password has the stored form `hash`.
fn newcomer(project_id: ProjectId, role: RoleChoice) -> NewEmployee {
    let login = format!("employee-{}", fresh());
    NewEmployee {
        project_id,
        branch_id: None,
        department_id: None,
        role,
        email: Email::parse(&format!("{login}@shop.example")).unwrap(),
        login: Login::parse(&login).unwrap(),
        first_name: Name::parse("Anna").unwrap(),
        last_name: Name::parse("Karenina").unwrap(),
        middle_name: None,
        phone: None,
        password_hash: "hash".to_owned(),
        created_at: noon(),
    }
}

/// An owner of the project whose password has the stored form `hash`.
async fn owner<F: Fixture>(fixture: &F, project_id: ProjectId) -> UserId {
    fixture.store().insert_employee(newcomer(project_id, RoleChoice::Owner)).await.unwrap()
}

async fn signed_in<F: Fixture>(fixture: &F, user_id: UserId, hash: &str) -> Option<TokenId> {
    let proved = MatchedPassword::Own(hash.to_owned());
    fixture.store().sign_in(SignIn { user_id, proved, token: token(noon()) }).await.unwrap()
}

/// A token of an employee is not found as a token of a customer, and the other way round.
pub async fn guards_share_no_tokens<F: Fixture>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let (_, of_customer) = store.sign_in_customer(app, &contact(), token(noon())).await.unwrap();
    let admin = owner(fixture, app.project_id).await;
    let of_staff = signed_in(fixture, admin, "hash").await.unwrap();
    assert_eq!(store.staff_token(of_staff).await.unwrap().unwrap().user_id, admin);
    assert!(store.customer_token(of_staff).await.unwrap().is_none());
    assert!(store.staff_token(of_customer).await.unwrap().is_none());
    assert_eq!(signed_in(fixture, admin, "another hash").await, None, "the password has changed since it was compared");
}

/// The commit that bans an employee revokes their tokens. A banned employee gets no token.
pub async fn a_ban_revokes_tokens<F: Fixture>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let (admin, banned) = (owner(fixture, app.project_id).await, owner(fixture, app.project_id).await);
    let (kept, lost) = (signed_in(fixture, admin, "hash").await, signed_in(fixture, banned, "hash").await);
    store.ban(banned, noon()).await.unwrap();
    assert!(store.staff_token(lost.unwrap()).await.unwrap().is_none());
    assert!(store.staff_token(kept.unwrap()).await.unwrap().is_some());
    assert_eq!(signed_in(fixture, banned, "hash").await, None);
    store.unban(banned, noon()).await.unwrap();
    assert!(store.staff_token(lost.unwrap()).await.unwrap().is_none(), "they must sign in again");
    assert!(signed_in(fixture, banned, "hash").await.is_some());
}

/// Under concurrent bans, a project keeps an owner.
pub async fn a_project_keeps_an_owner<F: Fixture>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let owners = [owner(fixture, app.project_id).await, owner(fixture, app.project_id).await];
    let outcomes = join_all(owners.map(|user| store.ban(user, noon()))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let last = outcomes.iter().filter(|outcome| matches!(outcome, Err(StaffRegistryError::LastOwner)));
    assert_eq!(last.count(), 1, "{outcomes:?}");
}

fn attempt(app: AppScope, phone: &Phone, nonce: &str) -> NewAttempt {
    NewAttempt {
        app,
        phone: phone.clone(),
        nonce_fingerprint: nonce.to_owned(),
        session_fingerprint: format!("session {}", fresh()),
        created_at: noon(),
        expires_at: after(300),
        phone_held_until: after(60),
    }
}

/// An attempt whose call is expected.
async fn opened<F: Fixture>(fixture: &F, app: AppScope) -> CallbackAttemptId {
    let store = fixture.store();
    let id = store.begin(attempt(app, &phone(), &format!("nonce {}", fresh()))).await.unwrap();
    store.open(id, &CheckId::parse(&format!("check-{}", fresh())).unwrap(), after(300)).await.unwrap();
    id
}

/// Under concurrent calls, an application uses a nonce once.
pub async fn a_nonce_is_used_once<F: Fixture>(fixture: &F) {
    let (store, [app, other]) = (fixture.store(), fixture.apps().await);
    let begun = join_all((0..8).map(|_| store.begin(attempt(app, &phone(), "nonce")))).await;
    assert_eq!(begun.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{begun:?}");
    assert_eq!(begun.iter().filter(|outcome| matches!(outcome, Err(ClaimError::NonceUsed))).count(), 7, "{begun:?}");
    store.begin(attempt(other, &phone(), "nonce")).await.unwrap();
}

/// Under concurrent calls, a phone of a project has one attempt at a time.
pub async fn a_phone_has_one_attempt<F: Fixture>(fixture: &F) {
    let (store, [app, _], [elsewhere, _]) = (fixture.store(), fixture.apps().await, fixture.apps().await);
    let phone = phone();
    let tries = (0..8).map(|number| store.begin(attempt(app, &phone, &format!("nonce {number}"))));
    let begun = join_all(tries).await;
    assert_eq!(begun.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{begun:?}");
    let held = begun.iter().filter(|outcome| matches!(outcome, Err(ClaimError::PhoneHeld { .. })));
    assert_eq!(held.count(), 7, "{begun:?}");
    store.begin(attempt(elsewhere, &phone, "nonce")).await.unwrap();
    let id = begun.into_iter().find_map(Result::ok).unwrap();
    store.abandon(id).await.unwrap();
    store.begin(attempt(app, &phone, "another nonce")).await.unwrap();
}

/// Under concurrent calls, one attempt gives one token.
pub async fn an_attempt_is_exchanged_once<F: Fixture>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let attempt = opened(fixture, app).await;
    let verified = AttemptChange::Verified { expires_at: after(300) };
    assert_eq!(store.change(attempt, verified, noon()).await.unwrap().state, AttemptState::Verified);
    let exchange = || store.exchange(AttemptExchange { attempt, app, token: token(noon()) });
    let outcomes: Vec<_> = join_all((0..8).map(|_| exchange())).await.into_iter().map(Result::unwrap).collect();
    let mut signed = Vec::new();
    for outcome in outcomes {
        match outcome {
            ExchangeOutcome::SignedIn { counterparty_id, token_id } => signed.push((counterparty_id, token_id)),
            ExchangeOutcome::NotVerified => {}
            ExchangeOutcome::SeveralCustomers => panic!("the phone is new"),
        }
    }
    assert_eq!(signed.len(), 1);
    for (customer, token) in signed {
        assert_eq!(store.customer_token(token).await.unwrap().unwrap().counterparty_id, customer);
    }
}

/// Under concurrent calls, one of them may query the provider.
pub async fn the_provider_is_queried_in_turn<F: Fixture>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let id = opened(fixture, app).await;
    let ask = |purpose, at: DateTime<Utc>| store.may_ask(id, purpose, at, at - TimeDelta::seconds(3));
    let asked = join_all((0..8).map(|_| ask(QueryPurpose::Status, after(10)))).await;
    assert_eq!(asked.into_iter().filter(|may| *may.as_ref().unwrap()).count(), 1);
    assert!(ask(QueryPurpose::Exchange, after(10)).await.unwrap(), "each purpose has its own interval");
    assert!(!ask(QueryPurpose::Status, after(12)).await.unwrap());
    assert!(ask(QueryPurpose::Status, after(14)).await.unwrap());
}
