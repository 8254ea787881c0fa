use chrono::TimeDelta;
use futures_util::future::join_all;
use kontor_kernel::CustomerScope;

use super::{Fixture, after, contact, noon, token};
use crate::model::{ClientSession, TokenOwner};
use crate::ports::{ClientSessions, CustomerAccounts as _, SessionStart, TokenRepository as _};

/// A new customer who has signed in at noon.
async fn customer<F: Fixture>(fixture: &F) -> CustomerScope {
    let [app, _] = fixture.apps().await;
    let (counterparty_id, token_id) = fixture.store().sign_in_customer(app, &contact(), token(noon())).await.unwrap();
    CustomerScope { app, counterparty_id, token_id }
}

/// Under concurrent heartbeats, a token has one open session, and its time is counted once.
pub async fn a_token_has_one_session<F: Fixture<Store: ClientSessions>>(fixture: &F) {
    let (store, anna) = (fixture.store(), customer(fixture).await);
    let before = store.current(anna.token_id).await.unwrap();
    let starts = join_all((0..8).map(|_| store.start(anna, before, after(400)))).await;
    let starts: Vec<SessionStart> = starts.into_iter().map(Result::unwrap).collect();
    let superseded = starts.iter().filter(|start| **start == SessionStart::Superseded);
    assert_eq!(superseded.count(), 7, "{starts:?}");
    let session = starts.iter().find_map(|start| match start {
        SessionStart::Started(session) => Some(*session),
        SessionStart::Superseded | SessionStart::SignedOut => None,
    });
    let session = session.unwrap();
    assert_eq!((session.started_at, session.duration), (after(400), TimeDelta::zero()));
    assert_eq!(store.current(anna.token_id).await.unwrap(), Some(session));
    let next = ClientSession { last_seen_at: after(460), duration: TimeDelta::seconds(60), ..session };
    let continued = join_all((0..8).map(|_| store.continue_session(next, session.last_seen_at))).await;
    assert_eq!(continued.into_iter().filter(|stored| *stored.as_ref().unwrap()).count(), 1);
    assert_eq!(store.current(anna.token_id).await.unwrap(), Some(next));
}

/// The session of a revoked token is closed. The token gets no other one.
pub async fn a_revoked_token_has_no_session<F: Fixture<Store: ClientSessions>>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), customer(fixture).await, customer(fixture).await);
    let before = store.current(anna.token_id).await.unwrap();
    if before.is_none() {
        store.start(anna, None, noon()).await.unwrap();
    }
    let open = store.current(anna.token_id).await.unwrap().unwrap();
    store.revoke(TokenOwner::Customer(anna.counterparty_id), anna.token_id).await.unwrap();
    assert_eq!(store.current(anna.token_id).await.unwrap(), None);
    let next = ClientSession { last_seen_at: after(60), ..open };
    assert!(!store.continue_session(next, open.last_seen_at).await.unwrap());
    assert_eq!(store.start(anna, None, after(60)).await.unwrap(), SessionStart::SignedOut);
    let theirs = CustomerScope { counterparty_id: boris.counterparty_id, ..anna };
    assert_eq!(store.start(theirs, None, after(60)).await.unwrap(), SessionStart::SignedOut);
}
