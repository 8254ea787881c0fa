//! Customers log in, order, pay and delete their accounts.

use chrono::TimeDelta;
use kontor_adapter_diesel::{IdempotentRequest, KeyClaim, KeyOwner, RequestNumbers};
use kontor_auth::{CustomerAuthentication, LogoutExtent};
use kontor_kernel::{Clock as _, Contact, DeliverySubtypeId, DeliveryTypeId, ExposeSecret as _, Name, Phone, Quantity};
use kontor_orders::change::ContactPerson;
use kontor_orders::model::{Address, Cart, CartLine, DeliveryRequest, PaymentMethod, PromoCode};
use kontor_orders::{ContactOrderCommand, OrderCommand, PlacedOutcome, PlacementError};
use kontor_payments::model::{GatewayStatus, ProviderId};

use super::{Act, ActResult, Effect, Member, Scene};
use crate::invariants;

/// Requests a code. It always runs alone, so that the latest code is known.
pub fn asks_for_code(scene: Scene, contact: Contact) -> Act {
    Box::pin(async move {
        let services = &scene.services;
        let sent = services.sessions.send_code(scene.merchant.app, &contact, None).await;
        let code = services.outside.code_for(contact.as_str()).unwrap_or_default();
        ActResult::of("asks for a code", sent, |()| String::new()).teaching(Effect::CodeSent(contact, code))
    })
}

/// Logs a customer in with a code.
pub fn signs_in(scene: Scene, contact: Contact, code: String) -> Act {
    Box::pin(async move {
        let app = scene.merchant.app;
        let signed = scene.services.sessions.log_in(app, &contact, &code, None).await;
        let member = signed.as_ref().ok().map(|signed| Member {
            contact: contact.clone(),
            scope: signed.scope,
            bearer: signed.token.value.expose_secret().to_owned(),
            subscriptions: Vec::new(),
        });
        let did = ActResult::of("signs in", signed, |signed| signed.scope.counterparty_id.to_string());
        match member {
            Some(member) => did.teaching(Effect::SignedIn(Box::new(member), code)),
            None => did,
        }
    })
}

/// Logs a customer out, on this device or everywhere. Their token is invalid then.
pub fn signs_out(scene: Scene, member: Member, everywhere: bool) -> Act {
    Box::pin(async move {
        let extent = if everywhere { LogoutExtent::AllDevices } else { LogoutExtent::ThisDevice };
        let services = &scene.services;
        let out = services.sessions.log_out(member.scope, extent).await;
        let did = ActResult::of("signs out", out, |()| String::new());
        let seen = services.guard.authenticate(scene.merchant.app, &member.bearer).await;
        if !matches!(seen, Ok(CustomerAuthentication::Unauthenticated)) {
            let broken = Effect::Broken(invariants::ONE_CODE, format!("a token that was ended means {seen:?}"));
            return ActResult { effect: broken, ..did };
        }
        did.teaching(Effect::SignedOut(member.scope, everywhere))
    })
}

/// Deletes a customer's account.
pub fn leaves(scene: Scene, member: Member) -> Act {
    Box::pin(async move {
        let left = scene.services.profiles.delete_account(member.scope).await;
        ActResult::of("leaves", left, |()| String::new()).teaching(Effect::Left(member.scope))
    })
}

/// Creates a random order request. A delivery goes to an address that contains the number of the request.
pub fn wish(scene: &mut Scene, number: u64) -> OrderCommand {
    let merchant = scene.merchant.clone();
    let mut items = merchant.items.clone();
    let lines = 1 + scene.rng.below(3);
    let mut chosen = Vec::new();
    for _ in 0..lines {
        let bound = u64::try_from(items.len()).unwrap();
        let item = items.swap_remove(usize::try_from(scene.rng.below(bound)).unwrap());
        let quantity = Quantity::new(1 + i64::try_from(scene.rng.below(4)).unwrap()).unwrap();
        chosen.push(CartLine { item, quantity });
    }
    let promo = if scene.rng.percent(30) { scene.rng.one_of(&merchant.promo_codes) } else { None };
    let (online, fetched) = (scene.rng.percent(65), scene.rng.percent(25));
    OrderCommand {
        cart: Cart::new(chosen).unwrap(),
        promo_code: promo.map(|code| PromoCode::parse(&code).unwrap()),
        delivery: DeliveryRequest {
            type_id: DeliveryTypeId::new(if fetched { 1 } else { 2 }).unwrap(),
            subtype_id: (!fetched).then(|| DeliverySubtypeId::new(2).unwrap()),
            subtype_param_id: None,
            shop_id: fetched.then_some(merchant.shop),
            address: Address::parse(&format!("Request {number}")).ok(),
            payment_type_id: (!online).then_some(merchant.payment_type),
        },
        payment_method: online.then_some(PaymentMethod::BankCard),
    }
}

fn placed(did: &'static str, answer: Result<PlacedOutcome, PlacementError>) -> ActResult {
    ActResult::of(did, answer, |outcome| match outcome {
        PlacedOutcome::Ready(order) => format!("order {} for {:?}", order.id, order.final_price),
        PlacedOutcome::PaymentOutcomeUnknown(order) => format!("order {}, payment unclear", order.id),
    })
}

/// Places an order under an idempotency key. A repeat of the same request is not carried out again.
pub fn orders(scene: Scene, member: Member, key: u64, wish: OrderCommand) -> Act {
    Box::pin(async move {
        let services = &scene.services;
        let at = services.clock.now();
        let owner = KeyOwner { guard: "counterparty", id: Some(member.scope.counterparty_id.get()) };
        let id = owner.keys(&key.to_string());
        if let Ok(Some(kept)) = services.database.find_key(&id, at).await {
            return ActResult { outcome: format!("known, process {}", kept.process), ..ActResult::nothing("orders") };
        }
        let claim = KeyClaim {
            id,
            fingerprint: format!("{wish:?}").len().to_string(),
            owner,
            process: "p".to_owned(),
            leased_until: at + TimeDelta::seconds(30),
            at,
            number: RequestNumbers::new(u32::try_from(key % 1_000).unwrap_or_default()).next(at),
        };
        let request = IdempotentRequest::new(claim);
        let answer = services.placement_for(&request).place(member.scope, &wish).await;
        if request.lost_key() {
            return ActResult { outcome: "overtaken".to_owned(), ..ActResult::nothing("orders") };
        }
        placed("orders", answer)
    })
}

/// Places an order without logging in.
pub fn orders_by_contact(mut scene: Scene, phone: Phone) -> Act {
    Box::pin(async move {
        let wish = wish(&mut scene, 0);
        let name = |text| Name::parse(text).unwrap();
        let command = ContactOrderCommand {
            person: ContactPerson { first_name: name("Anna"), last_name: name("K"), middle_name: None, phone },
            cart: wish.cart,
            address: Address::parse("Somewhere 1").unwrap(),
            payment_type_id: scene.merchant.payment_type,
        };
        placed("orders by contact", scene.services.placement.place_by_contact(scene.merchant.app, &command).await)
    })
}

/// Ends a payment. The acquirer reports the status `reported` times: never, once or twice.
pub fn pays(scene: Scene, payment: ProviderId, status: GatewayStatus, reported: u64) -> Act {
    Box::pin(async move {
        scene.services.outside.decide(&payment, status);
        let mut did =
            ActResult { outcome: format!("done {status:?}, no notice is sent"), ..ActResult::nothing("pays") };
        for _ in 0..reported {
            let notified = scene.services.charges.handle_notification(&payment, Some(status)).await;
            did = ActResult::of("pays", notified, |notified| format!("{status:?}: {notified:?}"));
        }
        did
    })
}
