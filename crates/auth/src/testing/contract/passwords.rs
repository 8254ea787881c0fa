use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::{Email, TokenId, UserId};

use super::{Fixture, after, fresh, noon, owner, signed_in, token};
use crate::model::{Login, PasswordRecipient, PasswordRequest, StaffCredentials, TemporaryPassword};
use crate::ports::{
    MatchedPassword, PasswordRequests, SignIn, SignInAddresses, StaffRepository as _, TokenRepository as _,
};

fn login() -> Login {
    Login::parse(&format!("login-{}", fresh())).unwrap()
}

pub(super) async fn leased<F: Fixture<Store: PasswordRequests>>(
    fixture: &F,
    owner: &str,
    at: DateTime<Utc>,
) -> Option<PasswordRequest> {
    let until = at + TimeDelta::seconds(30);
    fixture.store().lease(owner, at, until).await.unwrap()
}

/// Under concurrent calls, one worker leases a request for a password, until the lease has run out or the request is
/// postponed.
pub async fn a_password_request_has_one_lease<F: Fixture<Store: PasswordRequests>>(fixture: &F) {
    let (store, login) = (fixture.store(), login());
    store.enqueue(&login, noon()).await.unwrap();
    let owners: Vec<String> = (0..6).map(|number| format!("worker {number}")).collect();
    let rounds = join_all(owners.iter().map(|owner| leased(fixture, owner, noon()))).await;
    let requests: Vec<_> = rounds.into_iter().flatten().collect();
    let first = PasswordRequest { login, requested_at: noon(), attempts: 1 };
    assert_eq!(requests, std::slice::from_ref(&first));
    assert_eq!(leased(fixture, "late", after(29)).await, None);
    let second = leased(fixture, "next", after(30)).await.unwrap();
    assert_eq!(second, PasswordRequest { attempts: 2, ..first.clone() });
    store.postpone(&first, after(40)).await.unwrap();
    assert_eq!(leased(fixture, "late", after(59)).await, None, "only the last attempt is postponed");
    store.postpone(&second, after(100)).await.unwrap();
    assert_eq!(leased(fixture, "late", after(99)).await, None);
    let third = leased(fixture, "late", after(100)).await.unwrap();
    store.forget(&third).await.unwrap();
    assert_eq!(leased(fixture, "late", after(86_400)).await, None);
}

/// A request that replaces an earlier one stays when the earlier one is completed.
pub async fn a_newer_password_request_stays<F: Fixture<Store: PasswordRequests>>(fixture: &F) {
    let (store, login) = (fixture.store(), login());
    store.enqueue(&login, noon()).await.unwrap();
    let earlier = leased(fixture, "worker", noon()).await.unwrap();
    store.enqueue(&login, after(10)).await.unwrap();
    store.forget(&earlier).await.unwrap();
    let newer = leased(fixture, "worker", after(10)).await;
    assert_eq!(newer, Some(PasswordRequest { login, requested_at: after(10), attempts: 1 }));
    assert_eq!(leased(fixture, "worker", after(11)).await, None);
}

/// The login of an owner, and its recipient.
pub(super) async fn recipient<F: Fixture<Store: PasswordRequests>>(
    fixture: &F,
    user: UserId,
) -> (Login, PasswordRecipient) {
    let store = fixture.store();
    let login = store.employee(user).await.unwrap().unwrap().login;
    let recipient = store.recipient(&login).await.unwrap().unwrap();
    (login, recipient)
}

pub(super) fn temporary(recipient: &PasswordRecipient) -> TemporaryPassword {
    let hash = "temporary".to_owned();
    TemporaryPassword { recipient: recipient.clone(), hash, created_at: noon(), expires_at: after(3_600) }
}

pub(super) async fn credentials<F: Fixture>(fixture: &F, login: &Login, at: DateTime<Utc>) -> StaffCredentials {
    fixture.store().credentials(login, at).await.unwrap().unwrap()
}

pub(super) async fn signed_in_by_mail<F: Fixture>(fixture: &F, user_id: UserId, hash: &str) -> Option<TokenId> {
    let proved = MatchedPassword::Temporary(hash.to_owned());
    fixture.store().sign_in(SignIn { user_id, proved, token: token(noon()) }).await.unwrap()
}

/// A temporary password becomes the own one at its first use, which revokes the other tokens. Until then both are
/// valid.
pub async fn a_temporary_password_becomes_the_own_one<F: Fixture<Store: PasswordRequests>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let admin = owner(fixture, app.project_id).await;
    let (login, recipient) = recipient(fixture, admin).await;
    assert_eq!(signed_in_by_mail(fixture, admin, "temporary").await, None);
    assert!(store.store(temporary(&recipient)).await.unwrap());
    assert_eq!(credentials(fixture, &login, after(3_599)).await.temporary_hash.as_deref(), Some("temporary"));
    assert_eq!(credentials(fixture, &login, after(3_600)).await.temporary_hash, None);
    let earlier = signed_in(fixture, admin, "hash").await.unwrap();
    assert_eq!(signed_in_by_mail(fixture, admin, "another").await, None);
    let adopted = signed_in_by_mail(fixture, admin, "temporary").await.unwrap();
    assert!(store.staff_token(earlier).await.unwrap().is_none());
    assert!(store.staff_token(adopted).await.unwrap().is_some());
    let credentials = credentials(fixture, &login, noon()).await;
    assert_eq!((credentials.password_hash.as_str(), credentials.temporary_hash), ("temporary", None));
    assert_eq!(signed_in(fixture, admin, "hash").await, None);
    assert!(signed_in(fixture, admin, "temporary").await.is_some());
}

/// A temporary password is stored for the address to which it is sent. A ban removes it.
pub async fn a_temporary_password_needs_its_recipient<F: Fixture<Store: PasswordRequests>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let (_, banned) = (owner(fixture, app.project_id).await, owner(fixture, app.project_id).await);
    let (login, recipient) = recipient(fixture, banned).await;
    let former = PasswordRecipient { email: Email::parse("former@shop.example").unwrap(), ..recipient.clone() };
    assert!(!store.store(temporary(&former)).await.unwrap());
    assert_eq!(credentials(fixture, &login, noon()).await.temporary_hash, None);
    assert!(store.store(temporary(&recipient)).await.unwrap());
    store.ban(banned, noon()).await.unwrap();
    assert_eq!(store.recipient(&login).await.unwrap(), None);
    assert!(!store.store(temporary(&recipient)).await.unwrap());
    store.unban(banned, noon()).await.unwrap();
    assert_eq!(credentials(fixture, &login, noon()).await.temporary_hash, None);
    assert_eq!(signed_in_by_mail(fixture, banned, "temporary").await, None);
}

/// An address is known after a sign-in from it, and stays known after another one.
pub async fn a_sign_in_address_is_remembered<F: Fixture<Store: SignInAddresses>>(fixture: &F) {
    let store = fixture.store();
    assert!(!store.contains("address").await.unwrap());
    for at in [noon(), after(60)] {
        store.remember("address", at).await.unwrap();
        assert!(store.contains("address").await.unwrap());
    }
    assert!(!store.contains("another address").await.unwrap());
}
