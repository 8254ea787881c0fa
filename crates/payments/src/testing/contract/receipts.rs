use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::ProjectId;

use super::{Fixture, key, new_charge, noon, paid, provider, refund_recorded, refunding, stored};
use crate::change::{Change, ChargeChange, ReceiptChange, RefundChange};
use crate::model::{
    Charge, FiscalReceipt, ProviderId, ReceiptState, ReceiptTask, ReceiptTerms, Registration, TaxSystem, VatCode,
};
use crate::ports::{ChargeStore, ReceiptSettings, ReceiptStore};

/// Storage that also keeps receipts and their settings.
#[async_trait]
pub trait ReceiptFixture: Fixture<Store: ReceiptStore + ReceiptSettings> {
    /// Returns a new project.
    async fn project(&self) -> ProjectId;
}

/// Stores a charge and records its money at this time, with the state of its receipt.
async fn sent<F: ReceiptFixture>(
    fixture: &F,
    receipt: Option<Registration>,
    at: DateTime<Utc>,
) -> (Charge, ProviderId) {
    let charge = stored(fixture, new_charge(fixture.customer().await)).await;
    let provider_id = provider("pay");
    let succeeded = ChargeChange::Succeeded {
        provider_id: provider_id.clone(),
        event_id: key(),
        refund: None,
        method: None,
        receipt,
    };
    let recorded = ChargeStore::record(&*fixture.store(), charge.id, succeeded, at).await.unwrap();
    assert_eq!(recorded, Change::Done);
    (charge, provider_id)
}

fn after(minutes: i64) -> DateTime<Utc> {
    noon() + TimeDelta::minutes(minutes)
}

/// Leases the receipt that has been due longest, for two minutes.
async fn leased<F: ReceiptFixture>(fixture: &F, at: DateTime<Utc>) -> Option<FiscalReceipt> {
    ReceiptStore::lease(&*fixture.store(), "worker", at, at + TimeDelta::minutes(2)).await.unwrap()
}

async fn receipt_recorded<F: ReceiptFixture>(
    fixture: &F,
    receipt: &FiscalReceipt,
    change: ReceiptChange,
    at: DateTime<Utc>,
) -> Change {
    ReceiptStore::record(&*fixture.store(), receipt.id, receipt.tries, change, at).await.unwrap()
}

fn registered() -> ReceiptChange {
    ReceiptChange::Succeeded { provider_id: None }
}

fn postponed(unanswered: bool, overdue: bool, next_check_at: DateTime<Utc>) -> ReceiptChange {
    ReceiptChange::Postponed { why: "busy".to_owned(), unanswered, overdue, next_check_at }
}

/// The outcome of a charge or a refund stores its receipt in the same commit, to be checked unless it is registered.
pub async fn a_receipt_is_stored_with_its_money<F: ReceiptFixture>(fixture: &F) {
    sent(fixture, None, noon()).await;
    sent(fixture, Some(Registration::Succeeded), noon()).await;
    assert_eq!(leased(fixture, after(1)).await, None, "nothing is to be checked");
    let (charge, payment) = sent(fixture, Some(Registration::Pending), noon()).await;
    let receipt = leased(fixture, noon()).await.unwrap();
    let expected = FiscalReceipt {
        id: receipt.id,
        project_id: charge.project_id,
        purpose: charge.purpose(),
        state: ReceiptState::Pending,
        task: ReceiptTask::Payment(payment),
        charge_key: charge.request.key,
        tries: 0,
        key_made_at: noon(),
        asked_at: noon(),
        provider_id: None,
        checks: 0,
        overdue_at: None,
        created_at: noon(),
    };
    assert_eq!(receipt, expected);
    assert_eq!(receipt_recorded(fixture, &receipt, registered(), noon()).await, Change::Done);
    // A canceled receipt is stored as well: the check reports it.
    sent(fixture, Some(Registration::Canceled), noon()).await;
    let canceled = leased(fixture, noon()).await.unwrap();
    assert_eq!(receipt_recorded(fixture, &canceled, registered(), noon()).await, Change::Done);
    let refund = refunding(fixture, paid(fixture).await.id, 100).await;
    let provider_id = provider("ref");
    let succeeded = RefundChange::Succeeded { provider_id: provider_id.clone(), receipt: Some(Registration::Pending) };
    assert_eq!(refund_recorded(fixture, &refund, succeeded).await, Change::Done);
    let receipt = leased(fixture, noon()).await.unwrap();
    assert_eq!((receipt.task, receipt.purpose), (ReceiptTask::Refund(provider_id), refund.purpose));
}

/// Under concurrent calls, a due receipt has one lease, the longest due first, until the lease ends or an update is
/// recorded.
pub async fn a_due_receipt_has_one_lease<F: ReceiptFixture>(fixture: &F) {
    let (_, second) = sent(fixture, Some(Registration::Pending), noon()).await;
    let racing = join_all((0..8).map(|_| leased(fixture, noon()))).await;
    let taken: Vec<_> = racing.into_iter().flatten().collect();
    assert_eq!(taken.len(), 1, "{taken:?}");
    let (_, first) = sent(fixture, Some(Registration::Pending), after(-1)).await;
    let tasks = [leased(fixture, after(2)).await.unwrap().task, leased(fixture, after(2)).await.unwrap().task];
    assert_eq!(tasks, [ReceiptTask::Payment(first), ReceiptTask::Payment(second)], "a lease ends");
    assert_eq!(leased(fixture, after(3)).await, None);
    let receipt = taken.first().unwrap();
    assert_eq!(receipt_recorded(fixture, receipt, postponed(false, false, after(3)), after(2)).await, Change::Done);
    assert_eq!(leased(fixture, after(2)).await, None);
    assert_eq!(leased(fixture, after(3)).await.map(|again| (again.id, again.checks)), Some((receipt.id, 1)));
}

/// Under concurrent calls, the outcome of a receipt is recorded once, and only for the current attempt.
pub async fn a_receipt_is_registered_once<F: ReceiptFixture>(fixture: &F) {
    sent(fixture, Some(Registration::Pending), noon()).await;
    let receipt = leased(fixture, noon()).await.unwrap();
    let other = FiscalReceipt { tries: receipt.tries + 1, ..receipt.clone() };
    assert_eq!(receipt_recorded(fixture, &other, registered(), noon()).await, Change::Stale, "another attempt");
    let outcomes = join_all((0..8).map(|_| receipt_recorded(fixture, &receipt, registered(), noon()))).await;
    assert_eq!(outcomes.into_iter().filter(|outcome| *outcome == Change::Done).count(), 1);
    let late = postponed(true, true, after(1));
    assert_eq!(receipt_recorded(fixture, &receipt, late, noon()).await, Change::Stale);
    assert_eq!(leased(fixture, after(9)).await, None, "a registered receipt is not due");
    sent(fixture, Some(Registration::Pending), noon()).await;
    let receipt = leased(fixture, noon()).await.unwrap();
    let canceled = ReceiptChange::Canceled { why: "no".to_owned() };
    assert_eq!(receipt_recorded(fixture, &receipt, canceled, noon()).await, Change::Done);
    assert_eq!(receipt_recorded(fixture, &receipt, registered(), noon()).await, Change::Stale);
}

/// A postponed check keeps when the receipt was reported as overdue. Only an unanswered request moves `asked_at`.
pub async fn an_overdue_receipt_stays_reported<F: ReceiptFixture>(fixture: &F) {
    sent(fixture, Some(Registration::Pending), noon()).await;
    for (minutes, unanswered, overdue, asked_at, overdue_at) in [
        (1, true, false, after(1), None),
        (2, false, true, after(1), Some(after(2))),
        (3, true, false, after(3), Some(after(2))),
    ] {
        let at = after(minutes);
        let receipt = leased(fixture, at).await.unwrap();
        let change = postponed(unanswered, overdue, at);
        assert_eq!(receipt_recorded(fixture, &receipt, change, at).await, Change::Done);
        let receipt = leased(fixture, at).await.unwrap();
        assert_eq!((receipt.asked_at, receipt.overdue_at), (asked_at, overdue_at));
        assert_eq!(receipt_recorded(fixture, &receipt, postponed(false, false, at), at).await, Change::Done);
    }
}

/// Receipt settings belong to one project, and are replaced as a whole.
pub async fn receipt_settings_belong_to_a_project<F: ReceiptFixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    assert_eq!(store.receipt_terms(ours).await.unwrap(), None, "a new project has no receipts");
    let vat = |code| VatCode::new(code).unwrap();
    let both = ReceiptTerms { tax_system: TaxSystem::new(2).ok(), default_vat: vat(1) };
    for terms in [Some(both), Some(ReceiptTerms { tax_system: None, default_vat: vat(3) }), None, Some(both)] {
        assert!(store.set_receipt_terms(ours, terms).await.unwrap());
        assert_eq!(store.receipt_terms(ours).await.unwrap(), terms);
        assert_eq!(store.receipt_terms(theirs).await.unwrap(), None);
    }
    let nothing = ProjectId::new(i64::from(u32::MAX)).unwrap();
    assert!(!store.set_receipt_terms(nothing, Some(both)).await.unwrap());
    assert_eq!(store.receipt_terms(nothing).await.unwrap(), None);
}
