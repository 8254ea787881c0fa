use futures_util::future::join_all;
use kontor_kernel::{AppScope, Contact, CounterpartyId, Phone};

use super::{Fixture, after, contact, noon, phone};
use crate::model::{NewCode, NewPhoneCode, PhoneChangeAttempt, PhoneChangeOutcome, PhoneOwnership};
use crate::ports::{CustomerAccounts as _, PhoneRepository};

/// Sends a code for a new phone to a customer.
async fn sent<F: Fixture<Store: PhoneRepository>>(fixture: &F, app: AppScope, customer: CounterpartyId, phone: &Phone) {
    let code = NewCode { fingerprint: "right".to_owned(), attempts: 5, created_at: noon(), expires_at: after(300) };
    let code = NewPhoneCode { project_id: app.project_id, customer, phone: phone.clone(), code };
    assert!(fixture.store().store_code(code).await.unwrap());
}

fn attempt(app: AppScope, customer: CounterpartyId, phone: &Phone, fingerprint: &str) -> PhoneChangeAttempt {
    let (phone, fingerprint) = (phone.clone(), fingerprint.to_owned());
    PhoneChangeAttempt { project_id: app.project_id, customer, phone, fingerprint, at: noon() }
}

/// If two customers prove one phone at the same time, one of them gets it, and signs in with it instead of the former
/// one.
pub async fn a_phone_has_one_customer<F: Fixture<Store: PhoneRepository>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let (project, wanted, formers) = (app.project_id, phone(), [contact(), contact()]);
    let mut customers = Vec::new();
    for former in &formers {
        let customer = store.find_or_create(project, former, noon()).await.unwrap();
        assert_eq!(store.phone_ownership(project, customer, &wanted).await.unwrap(), PhoneOwnership::Free);
        sent(fixture, app, customer, &wanted).await;
        customers.push((customer, former));
    }
    let changes = customers.iter().map(|(customer, _)| store.change_phone(attempt(app, *customer, &wanted, "right")));
    let outcomes: Vec<_> = join_all(changes).await.into_iter().map(Result::unwrap).collect();
    let mut owners = Vec::new();
    for ((customer, former), outcome) in customers.into_iter().zip(&outcomes) {
        let ownership = store.phone_ownership(project, customer, &wanted).await.unwrap();
        let signed_in = store.find_or_create(project, former, noon()).await.unwrap();
        if *outcome == PhoneChangeOutcome::Changed {
            assert_eq!(ownership, PhoneOwnership::Own);
            assert_ne!(signed_in, customer, "the former phone is free");
            owners.push(customer);
        } else {
            assert_eq!((*outcome, ownership), (PhoneChangeOutcome::Taken, PhoneOwnership::Taken));
            assert_eq!(signed_in, customer);
        }
    }
    let owner = store.find_or_create(project, &Contact::Phone(wanted), noon()).await.unwrap();
    assert_eq!(owners, [owner], "{outcomes:?}");
}

/// A code for a phone is valid for its customer, its phone and its time. Under concurrent calls, it allows as many
/// wrong attempts as it has.
pub async fn a_phone_changes_by_its_code<F: Fixture<Store: PhoneRepository>>(fixture: &F) {
    let (store, [app, _]) = (fixture.store(), fixture.apps().await);
    let anna = store.find_or_create(app.project_id, &contact(), noon()).await.unwrap();
    let boris = store.find_or_create(app.project_id, &contact(), noon()).await.unwrap();
    let wanted = phone();
    let change = |attempt| store.change_phone(attempt);
    sent(fixture, app, anna, &wanted).await;
    let right = attempt(app, anna, &wanted, "right");
    for invalid in [
        PhoneChangeAttempt { customer: boris, ..right.clone() },
        PhoneChangeAttempt { phone: phone(), ..right.clone() },
        PhoneChangeAttempt { at: after(300), ..right.clone() },
    ] {
        assert_eq!(change(invalid).await.unwrap(), PhoneChangeOutcome::NoValidCode);
    }
    let wrongs = join_all((0..8).map(|_| change(attempt(app, anna, &wanted, "wrong")))).await;
    let wrongs: Vec<_> = wrongs.into_iter().map(Result::unwrap).collect();
    let counted = wrongs.iter().filter(|outcome| **outcome == PhoneChangeOutcome::WrongCode);
    assert_eq!(counted.count(), 5, "{wrongs:?}");
    assert_eq!(change(right.clone()).await.unwrap(), PhoneChangeOutcome::NoValidCode);
    sent(fixture, app, anna, &wanted).await;
    assert_eq!(change(right.clone()).await.unwrap(), PhoneChangeOutcome::Changed);
    assert_eq!(change(right).await.unwrap(), PhoneChangeOutcome::NoValidCode, "a code is used once");
}
