use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use kontor_kernel::{CustomerScope, Money, SubscriptionId};
use kontor_payments::change::ChargeChange;
use kontor_payments::model::ChargeFailure;
use kontor_payments::verification::VerificationTerms;

use super::{Fixture, active, begun, key, noon, price, recorded, success, view};
use crate::method_change::{MethodChange, MethodChangeBegun, MethodChangeStatus, NewMethodChange};
use crate::ports::MethodChangeStore;

fn new_change(customer: CustomerScope, subscription: SubscriptionId, at: DateTime<Utc>) -> NewMethodChange {
    NewMethodChange {
        customer,
        subscription,
        consent_text: "2".to_owned(),
        address: None,
        key: key(),
        terms: VerificationTerms {
            amount: Money::from_minor(100).unwrap(),
            return_url: "https://shop.example".to_owned(),
        },
        at,
    }
}

async fn change_begun<F: Fixture<Store: MethodChangeStore>>(fixture: &F, new: NewMethodChange) -> MethodChangeBegun {
    MethodChangeStore::begin(&*fixture.store(), new).await.unwrap()
}

async fn started<F: Fixture<Store: MethodChangeStore>>(fixture: &F, new: NewMethodChange) -> MethodChange {
    match change_begun(fixture, new).await {
        MethodChangeBegun::New(change) => change,
        other => panic!("not stored: {other:?}"),
    }
}

/// Under concurrent calls, a subscription has one unexpired method change. Only its customer sees it.
pub async fn one_method_change_is_open<F: Fixture<Store: MethodChangeStore>>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), fixture.customer().await, fixture.customer().await);
    let (annas, boriss) = (active(fixture, anna).await.id, active(fixture, boris).await.id);
    let (mut new, mut present) = (Vec::new(), Vec::new());
    for outcome in join_all((0..8).map(|_| change_begun(fixture, new_change(anna, annas, noon())))).await {
        match outcome {
            MethodChangeBegun::New(change) => new.push(change),
            MethodChangeBegun::Present(change) => present.push(change),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((new.len(), present.len()), (1, 7));
    assert!(present.iter().all(|change| *change == new[0]), "{present:?}");
    let (customer, method) = (new[0].charge.counterparty_id, new[0].saved_method);
    assert_eq!((customer, method, new[0].status()), (anna.counterparty_id, None, MethodChangeStatus::Pending));
    let find = async |customer, subscription| {
        MethodChangeStore::find(&*store, customer, subscription, new[0].id).await.unwrap()
    };
    assert_eq!(find(anna, annas).await.as_ref(), Some(&new[0]));
    assert_eq!(find(boris, annas).await, None);
    assert_eq!(find(boris, boriss).await, None, "it belongs to another subscription");
    assert_eq!(change_begun(fixture, new_change(boris, annas, noon())).await, MethodChangeBegun::NotFound);
    let later = started(fixture, new_change(anna, annas, new[0].expires_at)).await;
    assert_ne!(later.id, new[0].id, "an expired change prevents no other");
}

/// The method of an activated subscription changes with the outcome of the charge, once, and not if the charge fails.
pub async fn a_saved_method_replaces_the_former<F: Fixture<Store: MethodChangeStore>>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let before = active(fixture, anna).await;
    let failing = started(fixture, new_change(anna, before.id, noon())).await;
    let failed = || {
        let (failure, reason) = (ChargeFailure::Canceled, "no money".to_owned());
        ChargeChange::Failed { provider_id: None, failure, reason }
    };
    assert_eq!(recorded(fixture, &failing.charge, failed).await, 1);
    assert_eq!(view(fixture, anna, before.id).await.subscription, before);
    let saving = started(fixture, new_change(anna, before.id, noon())).await;
    assert_eq!(recorded(fixture, &saving.charge, success).await, 1);
    let find = async |id| MethodChangeStore::find(&*store, anna, before.id, id).await.unwrap().unwrap();
    assert_eq!(find(failing.id).await.status(), MethodChangeStatus::Failed);
    let saved = find(saving.id).await;
    assert_eq!(saved.status(), MethodChangeStatus::Completed);
    let after = view(fixture, anna, before.id).await.subscription;
    assert_eq!((after.terms.method, after.period), (saved.saved_method, before.period));
    assert_ne!(after.terms.method, before.terms.method);
    // The first payment was never made: there is no method to replace.
    let boris = fixture.customer().await;
    let payment = begun(fixture, boris, fixture.plan(price()).await).await;
    let unpaid = payment.subscriptions[0].subscription.id;
    assert_eq!(change_begun(fixture, new_change(boris, unpaid, noon())).await, MethodChangeBegun::NeverActivated);
}
