use async_trait::async_trait;
use chrono::TimeDelta;
use kontor_kernel::listing::Sort;
use kontor_kernel::{Listing, PageRequest, ProjectId, Stamp, SubscriptionId};

use super::{Fixture, active, canceled, charged, end, leased, noon, recorded, success};
use crate::model::{NoticeDays, Subscription, SubscriptionPolicy};
use crate::ports::{SubscriptionForecastReader, SubscriptionReader, SubscriptionSelector, SubscriptionStore};

/// Storage that also serves staff.
#[async_trait]
pub trait StaffFixture: Fixture<Store: SubscriptionReader> {
    /// Returns a new project without subscriptions.
    async fn project(&self) -> ProjectId;
}

fn page(number: i64, size: i64) -> PageRequest {
    PageRequest::new(number, size, 100).unwrap()
}

/// Active subscriptions of as many customers.
async fn several<F: Fixture>(fixture: &F, count: usize) -> Vec<Subscription> {
    let mut subscriptions = Vec::new();
    for _ in 0..count {
        subscriptions.push(active(fixture, fixture.customer().await).await);
    }
    subscriptions
}

fn ids(subscriptions: &[Subscription]) -> Vec<SubscriptionId> {
    subscriptions.iter().map(|one| one.id).collect()
}

/// Subscriptions are listed and found with their project, page by page.
pub async fn subscriptions_are_listed_by_project<F: StaffFixture>(fixture: &F) {
    let (store, theirs) = (fixture.store(), fixture.project().await);
    let subscriptions = several(fixture, 3).await;
    let project = subscriptions[0].project_id;
    let mut listed = Vec::new();
    for number in 1..=3 {
        let listing = Listing::unfiltered(Sort::descending("id"), page(number, 2));
        let page = SubscriptionReader::list(&*store, project, listing, noon()).await.unwrap();
        assert_eq!(page.total, 3);
        listed.extend(page.items.into_iter().map(|record| record.view.subscription));
    }
    listed.reverse();
    assert_eq!(listed, subscriptions, "each on one page, newest first");
    let all = Listing::unfiltered(Sort::ascending("id"), page(1, 9));
    assert_eq!(SubscriptionReader::list(&*store, theirs, all, noon()).await.unwrap().total, 0);
    let find = async |id| SubscriptionReader::find(&*store, id, noon()).await.unwrap();
    assert_eq!(find(subscriptions[0].id).await.unwrap().within(theirs), None);
    let found = find(subscriptions[0].id).await.unwrap().within(project).unwrap();
    assert_eq!(found.view.subscription, subscriptions[0]);
    assert_eq!(found.customer.id, subscriptions[0].counterparty_id);
    assert!(find(SubscriptionId::new(i64::from(u32::MAX)).unwrap()).await.is_none());
}

/// Payments, history and consents belong to one subscription, the latest first.
pub async fn the_past_of_a_subscription_is_its_own<F: StaffFixture>(fixture: &F) {
    let (store, subscriptions) = (fixture.store(), several(fixture, 2).await);
    let (id, now) = (subscriptions[0].id, end(&subscriptions[0]));
    let charge = charged(fixture, id, now).await.unwrap().charge.unwrap();
    assert_eq!(recorded(fixture, &charge, success).await, 1);
    let mut periods = Vec::new();
    for number in 1..=2 {
        let page = SubscriptionReader::payments(&*store, id, page(number, 1)).await.unwrap();
        assert_eq!((page.items.len(), page.total), (1, 2));
        periods.push(page.items[0].period);
    }
    assert_eq!(periods, [2, 1]);
    let (own, other) = (
        SubscriptionReader::history(&*store, id, page(1, 100)).await.unwrap(),
        SubscriptionReader::history(&*store, subscriptions[1].id, page(1, 100)).await.unwrap(),
    );
    assert!(own.total > other.total, "the renewal is in the history");
    assert!(own.items.iter().zip(own.items.iter().skip(1)).all(|(next, line)| next.line.id > line.line.id));
    assert!(own.items.iter().all(|entry| other.items.iter().all(|foreign| foreign.line.id != entry.line.id)));
    let consents = SubscriptionReader::consents(&*store, id, page(1, 9)).await.unwrap();
    assert_eq!((consents.total, consents.items[0].terms.plan), (1, subscriptions[0].terms.plan));
    let payments = SubscriptionReader::payments(&*store, subscriptions[1].id, page(1, 9)).await.unwrap();
    assert_eq!(payments.total, 1);
}

/// A charge policy belongs to one project, and is replaced as a whole.
pub async fn a_charge_policy_belongs_to_a_project<F: StaffFixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let policy = |days: u8, withdrawn_plans_renew| {
        let notice = NoticeDays::try_from(days).unwrap();
        SubscriptionPolicy { withdrawn_plans_renew, notice, ..SubscriptionPolicy::default() }
    };
    for set in [policy(5, true), policy(7, false), SubscriptionPolicy::default()] {
        store.set_policy(Stamp::of_system(ours, noon()), set.clone()).await.unwrap();
        assert_eq!(store.policy(ours).await.unwrap(), set);
        assert_eq!(store.policy(theirs).await.unwrap(), SubscriptionPolicy::default());
    }
}

/// Subscriptions that no worker could process are counted.
pub async fn parked_subscriptions_are_counted<F: StaffFixture>(fixture: &F) {
    let (store, subscriptions) = (fixture.store(), several(fixture, 2).await);
    assert_eq!(store.parked().await.unwrap(), 0);
    let now = end(&subscriptions[0]);
    let first = leased(fixture, now).await.into_iter().find(|one| one.id == subscriptions[0].id).unwrap();
    store.postpone(first, None, now).await.unwrap();
    assert_eq!(store.parked().await.unwrap(), 1);
}

/// A walk over the due subscriptions reads each once, although the first one changes meanwhile.
pub async fn due_subscriptions_are_read_once<F: Fixture<Store: SubscriptionForecastReader>>(fixture: &F) {
    let store = fixture.store();
    assert_eq!(store.next_moment().await.unwrap(), None);
    let subscriptions = several(fixture, 3).await;
    let wake = subscriptions[0].wake_at.unwrap();
    assert_eq!(store.next_moment().await.unwrap(), Some(wake));
    let early = wake - TimeDelta::seconds(1);
    assert!(store.list_due(noon(), early, None, 9).await.unwrap().is_empty(), "none is due before");
    let due = store.list_due(noon(), wake, None, 9).await.unwrap();
    assert_eq!(due.into_iter().map(|case| case.subscription).collect::<Vec<_>>(), subscriptions);
    let (mut read, mut after) = (Vec::new(), None);
    while read.len() < 9
        && let Some(case) = store.list_due(noon(), wake, after, 1).await.unwrap().pop()
    {
        after = case.subscription.wake_at.map(|wake| (wake, case.subscription.id));
        read.push(case.subscription.id);
        if read.len() == 1 {
            canceled(fixture, SubscriptionSelector::Any(case.subscription.id), noon()).await.unwrap();
        }
    }
    assert_eq!(read, ids(&subscriptions));
}

/// Attempts since a time are reported oldest first, with their total number.
pub async fn attempts_are_reported_oldest_first<F: Fixture<Store: SubscriptionForecastReader>>(fixture: &F) {
    let (store, subscriptions) = (fixture.store(), several(fixture, 3).await);
    let (first, total) = store.attempts_since(noon(), 2).await.unwrap();
    let first: Vec<_> = first.into_iter().map(|(id, attempt)| (id, attempt.period)).collect();
    assert_eq!((first, total), (vec![(subscriptions[0].id, 1), (subscriptions[1].id, 1)], 3));
    let now = end(&subscriptions[2]);
    let (none, total) = store.attempts_since(now, 9).await.unwrap();
    assert_eq!((none.len(), total), (0, 0));
    charged(fixture, subscriptions[2].id, now).await.unwrap();
    let (renewed, total) = store.attempts_since(now, 9).await.unwrap();
    let renewed: Vec<_> = renewed.into_iter().map(|(id, attempt)| (id, attempt.period)).collect();
    assert_eq!((renewed, total), (vec![(subscriptions[2].id, 2)], 1));
}
