use chrono::TimeDelta;
use futures_util::future::join_all;

use super::{
    Fixture, books, charge, key, money, new_charge, new_verification, noon, paid, provider, recorded, stored, success,
};
use crate::change::Change;
use crate::model::{Charge, GatewayRefund, GatewayStatus, RefundState};
use crate::ports::{
    ChargeStore, ChargeStored, ExternalRefundStored, RefundStore as _, VerificationStore as _, VerificationStored,
};

/// No charge and no verification of a deleted customer is stored.
pub async fn a_deleted_customer_pays_nothing<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    fixture.delete_customer(anna).await;
    let new = new_charge(anna);
    assert_eq!(ChargeStore::store(&*store, new.clone()).await.unwrap(), ChargeStored::CustomerDeleted);
    assert_eq!(store.by_key(new.request.key).await.unwrap(), None);
    let refused = store.start(new_verification(anna, noon())).await.unwrap();
    assert_eq!(refused, VerificationStored::CustomerDeleted);
}

/// A contradiction of the acquirer changes neither the outcome nor the money of a charge.
pub async fn a_contradiction_changes_no_outcome<F: Fixture>(fixture: &F) {
    let (store, paid) = (fixture.store(), paid(fixture).await);
    for why in ["it is canceled there", "it is canceled there", "it is gone there"] {
        store.record_contradiction(paid.id, why, noon()).await.unwrap();
        assert_eq!(charge(fixture, paid.id).await, paid);
    }
    let open = stored(fixture, new_charge(fixture.customer().await)).await;
    store.record_contradiction(open.id, "it is gone there", noon()).await.unwrap();
    assert_eq!(charge(fixture, open.id).await, open);
    assert_eq!(recorded(fixture, open.id, success()).await, Change::Done, "an open charge is not settled by it");
}

/// Refund of a payment, as the acquirer lists it.
fn made_there(charge: &Charge, minor: i64) -> GatewayRefund {
    GatewayRefund {
        id: provider("ref"),
        payment: charge.provider_id.clone().unwrap(),
        status: GatewayStatus::Succeeded,
        amount: money(minor),
        currency: charge.request.currency.clone(),
        reason: None,
        key: None,
        receipt: None,
    }
}

/// Under concurrent calls, a refund made at the acquirer is recorded once. One of more money than is left is reported
/// and does not count.
pub async fn a_refund_made_outside_is_recorded_once<F: Fixture>(fixture: &F) {
    let (store, paid) = (fixture.store(), paid(fixture).await);
    let refund = made_there(&paid, 600);
    let outcomes = join_all((0..8).map(|_| store.record_outside(key(), refund.clone(), noon()))).await;
    let outcomes: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    let (recorded, known) =
        (ExternalRefundStored::Recorded(paid.purpose()), ExternalRefundStored::Known(paid.purpose()));
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == recorded).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == known).count(), 7, "{outcomes:?}");
    assert_eq!(books(&charge(fixture, paid.id).await), (1_000, 600, 0));
    let refunds = store.of_payment(&refund.payment).await.unwrap().unwrap();
    assert_eq!(refunds, store.of_charge(paid.id).await.unwrap());
    let seen: Vec<_> = refunds.iter().map(|refund| (refund.state, refund.provider_id.clone())).collect();
    assert_eq!(seen, [(RefundState::Succeeded, Some(refund.id))]);
    let doubtful = store.record_outside(key(), made_there(&paid, 401), noon()).await.unwrap();
    assert!(matches!(doubtful, ExternalRefundStored::Contradicted { .. }), "{doubtful:?}");
    assert_eq!(books(&charge(fixture, paid.id).await), (1_000, 600, 0));
    let elsewhere = GatewayRefund { payment: provider("pay"), ..made_there(&paid, 1) };
    assert_eq!(store.of_payment(&elsewhere.payment).await.unwrap(), None);
    let unknown = store.record_outside(key(), elsewhere, noon()).await.unwrap();
    assert_eq!(unknown, ExternalRefundStored::UnknownCharge);
}

/// A due comparison with the acquirer is claimed by one worker. The compared time never goes back.
pub async fn refunds_are_compared_in_turn<F: Fixture>(fixture: &F) {
    let (store, day) = (fixture.store(), |number| noon() + TimeDelta::days(number));
    store.compared(day(0)).await.unwrap();
    let claims = join_all((0..8).map(|_| store.claim_comparison(day(1)))).await;
    let claims: Vec<_> = claims.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(claims, [day(0)]);
    store.compared(day(1)).await.unwrap();
    assert_eq!(store.claim_comparison(day(1)).await.unwrap(), None, "it was compared just now");
    store.compared(day(0)).await.unwrap();
    assert_eq!(store.claim_comparison(day(2)).await.unwrap(), Some(day(1)));
}
