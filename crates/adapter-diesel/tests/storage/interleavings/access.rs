//! Codes, tokens and sessions of a customer, and idempotency keys.

use chrono::TimeDelta;
use kontor_adapter_diesel::{IdempotentRequest, KeyClaim, StoredResponse, tests_with};
use kontor_auth::model::{CodeRedemption, NewCode, NewToken, RedeemOutcome, TokenOwner};
use kontor_auth::ports::{ClientSessions, CodeRepository, CustomerAccounts, TokenRepository};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{Clock as _, Contact, CounterpartyId, CustomerScope, ProjectId, StoreError, TokenId};

use super::{Act, Actor, Facts, acts, reported, walk};
use crate::idempotency::claim;

fn phone() -> Contact {
    Contact::parse("79007654321").unwrap()
}

impl Actor<'_> {
    fn project(&self) -> ProjectId {
        self.customer().app.project_id
    }

    fn code(&self, fingerprint: &str) -> NewCode {
        let now = self.shop().clock.now();
        let expires_at = now + TimeDelta::minutes(5);
        NewCode { fingerprint: fingerprint.to_owned(), attempts: 2, created_at: now, expires_at }
    }

    /// Logs in with a code. The reasons of a refusal may differ: a deleted customer and a missing code look alike in
    /// the rows.
    async fn signs_in(&self, fingerprint: &str) -> Result<String, StoreError> {
        let redeemed = self.redeems(fingerprint).await?;
        Ok(matches!(redeemed, RedeemOutcome::SignedIn { .. }).to_string())
    }

    async fn redeems(&self, fingerprint: &str) -> Result<RedeemOutcome, StoreError> {
        let now = self.shop().clock.now();
        let token = NewToken {
            fingerprint: "token".to_owned(),
            device: None,
            created_at: now,
            expires_at: now + TimeDelta::days(1),
        };
        let redemption = CodeRedemption {
            project_id: self.project(),
            application_id: self.customer().app.application_id,
            contact: phone(),
            fingerprint: fingerprint.to_owned(),
            token,
        };
        self.store().redeem(redemption).await
    }

    /// The customer of the phone, with the token of the scene.
    fn signed_in(&self) -> CustomerScope {
        let counterparty_id: CounterpartyId = self.id("customer");
        CustomerScope { counterparty_id, token_id: self.id("token"), ..self.customer() }
    }

    async fn under_the_key(&self, pieces: i64) -> Result<String, StoreError> {
        let (shop, now) = (self.shop(), self.shop().clock.now());
        let claim = KeyClaim { number: 700 + pieces, ..claim("key", now) };
        let request = IdempotentRequest::new(claim);
        let placement = shop.placement_for(&request);
        let placed = placement.place(shop.customer, &shop.command(&[(self.facts["vase"], pieces)])).await;
        Ok(format!("{} stored: {}, overtaken: {}", reported(placed), request.is_stored(), request.lost_key()))
    }
}

/// A customer who has logged in with a code, and has another one.
async fn signed_in(actor: &Actor<'_>) -> Facts {
    let (store, project, now) = (actor.store(), actor.project(), actor.shop().clock.now());
    let customer = store.find_or_create(project, &phone(), now).await.unwrap();
    store.replace(project, &phone(), actor.code("first")).await.unwrap();
    let RedeemOutcome::SignedIn { token_id, .. } = actor.redeems("first").await.unwrap() else {
        panic!("not signed in")
    };
    store.replace(project, &phone(), actor.code("code")).await.unwrap();
    [("customer", customer.get()), ("token", i64::from(token_id))].into()
}

/// A shop with five vases.
async fn five_vases(actor: &Actor<'_>) -> Facts {
    [("vase", actor.shop().goods("Vase", 5, 1_000).await)].into()
}

const SIGN_IN: &[Act] = acts! {
    "right code" => |actor| actor.signs_in("code");
    "wrong code" => |actor| actor.signs_in("wrong");
    "another code" => |actor| actor.store().replace(actor.project(), &phone(), actor.code("code"));
    "sign out" => |actor| {
        actor.store().revoke(TokenOwner::Customer(actor.id("customer")), actor.id::<TokenId>("token"))
    };
    "sign out everywhere" => |actor| actor.store().revoke_all(TokenOwner::Customer(actor.id("customer")));
    "begin a session" => |actor| actor.store().start(actor.signed_in(), None, actor.shop().clock.now());
    "leave" => |actor| actor.store().delete_account(actor.project(), actor.id("customer"), actor.shop().clock.now());
};

const KEYS: &[Act] = acts! {
    "order one under the key" => |actor| actor.under_the_key(1);
    "order two under the key" => |actor| actor.under_the_key(2);
    "answer" => |actor| async {
        let claim = KeyClaim { number: 701, ..claim("key", actor.shop().clock.now()) };
        actor.store().keep_answers([StoredResponse { claim, number: Some(701), answer: b"done".to_vec() }]).await
    };
    "refusal" => |actor| async {
        let claim = KeyClaim { number: 703, ..claim("key", actor.shop().clock.now()) };
        actor.store().keep_answers([StoredResponse { claim, number: None, answer: b"no".to_vec() }]).await
    };
    "free" => |actor| actor.store().delete_key("key");
};

async fn codes_and_tokens() {
    walk("codes and tokens", signed_in, &[SIGN_IN]).await;
}

async fn keys() {
    walk("keys", five_vases, &[KEYS]).await;
}

tests_with!(postgres: codes_and_tokens, keys);
