use futures_util::future::join_all;
use kontor_kernel::{AppScope, ApplicationId};
use uuid::Uuid;

use super::{Fixture, contact, fresh, noon, token};
use crate::IntrospectionRegistryError;
use crate::miniapp::MiniAppProvider;
use crate::model::{Audience, NewIntrospectionClient, TokenOwner};
use crate::ports::{CustomerAccounts as _, IntrospectionClients, MiniAppTokens, TokenRepository as _};

fn audience() -> Audience {
    Audience::parse("billing").unwrap()
}

/// A client with a new identifier and the secret `first`.
fn client(app: AppScope) -> NewIntrospectionClient {
    NewIntrospectionClient {
        client_id: Uuid::from_u64_pair(17, fresh().into()),
        application_id: app.application_id,
        audience: audience(),
        fingerprint: "first".to_owned(),
        created_at: noon(),
    }
}

/// Application that does not exist.
fn no_application() -> ApplicationId {
    ApplicationId::new(i64::from(u32::MAX)).unwrap()
}

/// A client sees the tokens of customers of its application, until they are revoked.
pub async fn a_client_sees_tokens_of_its_application<F: Fixture<Store: IntrospectionClients>>(fixture: &F) {
    let (store, [app, other]) = (fixture.store(), fixture.apps().await);
    let billing = client(app);
    store.insert(billing.clone()).await.unwrap();
    let (anna, ours) = store.sign_in_customer(app, &contact(), token(noon())).await.unwrap();
    let (_, theirs) = store.sign_in_customer(other, &contact(), token(noon())).await.unwrap();
    let inquire = async |token| store.client_and_token(billing.client_id, Some(token)).await.unwrap().unwrap();
    let found = inquire(ours).await;
    assert_eq!((found.fingerprint.as_str(), found.is_active, found.audience), ("first", true, audience()));
    assert_eq!((found.project_id, found.application_id), (app.project_id, app.application_id));
    let seen = found.token.unwrap();
    let stored = store.customer_token(ours).await.unwrap().unwrap();
    assert_eq!((seen.fingerprint, seen.expires_at), (stored.fingerprint, stored.expires_at));
    assert_eq!(inquire(theirs).await.token, None, "a token of another application");
    assert_eq!(store.client_and_token(client(app).client_id, Some(ours)).await.unwrap(), None);
    assert_eq!(store.client_and_token(billing.client_id, None).await.unwrap().unwrap().token, None);
    store.revoke(TokenOwner::Customer(anna), ours).await.unwrap();
    assert_eq!(store.remembered_inquiry(billing.client_id, Some(ours)), None);
    assert_eq!(inquire(ours).await.token, None);
}

/// Under concurrent calls, an application has one client for an audience.
pub async fn an_audience_has_one_client<F: Fixture<Store: IntrospectionClients>>(fixture: &F) {
    let (store, [app, other]) = (fixture.store(), fixture.apps().await);
    let outcomes = join_all((0..8).map(|_| store.insert(client(app)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let taken = outcomes.iter().filter(|outcome| matches!(outcome, Err(IntrospectionRegistryError::AlreadyIssued)));
    assert_eq!(taken.count(), 7, "{outcomes:?}");
    store.insert(client(other)).await.unwrap();
    let refused = store.insert(NewIntrospectionClient { application_id: no_application(), ..client(app) }).await;
    assert!(matches!(refused, Err(IntrospectionRegistryError::UnknownApplication)), "{refused:?}");
}

/// A disabled client is inactive at once. Another secret replaces the first one and activates the client.
pub async fn a_disabled_client_is_inactive<F: Fixture<Store: IntrospectionClients>>(fixture: &F) {
    let (store, [app, other]) = (fixture.store(), fixture.apps().await);
    let billing = client(app);
    let id = billing.client_id;
    store.insert(billing).await.unwrap();
    let (_, token) = store.sign_in_customer(app, &contact(), token(noon())).await.unwrap();
    assert!(store.client_and_token(id, Some(token)).await.unwrap().unwrap().is_active);
    assert_eq!(store.disable(other.application_id, audience()).await.unwrap(), None);
    assert_eq!(store.disable(app.application_id, audience()).await.unwrap(), Some(id));
    assert_eq!(store.remembered_inquiry(id, Some(token)), None);
    assert!(!store.client_and_token(id, Some(token)).await.unwrap().unwrap().is_active);
    let rotate =
        async |app: AppScope| store.rotate(app.application_id, audience(), "second".to_owned(), noon()).await.unwrap();
    assert_eq!((rotate(other).await, rotate(app).await), (None, Some(id)));
    let rotated = store.client_and_token(id, Some(token)).await.unwrap().unwrap();
    assert_eq!((rotated.fingerprint.as_str(), rotated.is_active), ("second", true));
}

/// An application has one bot token of each messenger.
pub async fn a_bot_token_belongs_to_its_application<F: Fixture<Store: MiniAppTokens>>(fixture: &F) {
    let (store, [app, other]) = (fixture.store(), fixture.apps().await);
    let (id, max) = (app.application_id, MiniAppProvider::Max);
    for sealed in ["first", "second"] {
        assert!(store.put(id, max, sealed.to_owned(), noon()).await.unwrap());
        assert_eq!(MiniAppTokens::token(&*store, id, max).await.unwrap().as_deref(), Some(sealed));
    }
    assert_eq!(MiniAppTokens::token(&*store, other.application_id, max).await.unwrap(), None);
    assert_eq!(MiniAppTokens::token(&*store, id, MiniAppProvider::Telegram).await.unwrap(), None);
    assert!(!store.put(no_application(), max, "third".to_owned(), noon()).await.unwrap());
    assert!(!store.remove(other.application_id, max).await.unwrap());
    assert!(store.remove(id, max).await.unwrap());
    assert!(!store.remove(id, max).await.unwrap());
    assert_eq!(MiniAppTokens::token(&*store, id, max).await.unwrap(), None);
}
