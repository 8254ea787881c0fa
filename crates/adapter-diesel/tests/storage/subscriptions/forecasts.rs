//! Upcoming subscription work, as read.

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_kernel::{Clock as _, SubscriptionId};
use kontor_payments::model::GatewayStatus;
use kontor_subscriptions::forecast;
use kontor_subscriptions::model::AttemptState;
use kontor_subscriptions::ports::SubscriptionForecastReader;

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

database_tests! {
    async fn waking_subscriptions_are_read_page_by_page(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let (anna, store) = (fixture.shop.customer, &db.database);
        assert_eq!(store.next_moment().await.unwrap(), None);
        let silver = fixture.plan("Silver", 50_000, 1).await;
        fixture.check_out(anna, &[fixture.gold, silver]).await.unwrap();
        // The acquirer knows the first payment, and notifies by itself.
        assert_eq!(store.next_moment().await.unwrap(), None);
        fixture.settle(GatewayStatus::Succeeded).await;
        let (now, due) = (fixture.shop.clock.now(), at("2026-04-01T12:00:00Z"));
        // The customer is notified first.
        assert_eq!(store.next_moment().await.unwrap(), Some(at("2026-03-29T12:00:00Z")));
        assert_eq!(store.list_due(now, at("2026-03-29T11:59:59Z"), None, 9).await.unwrap(), []);

        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let page = store.list_due(now, due, after, 1).await.unwrap();
            let Some(case) = page.into_iter().next() else { break };
            after = case.subscription.wake_at.map(|wake| (wake, case.subscription.id));
            read.push(case);
        }
        let ids: Vec<SubscriptionId> = read.iter().map(|case| case.subscription.id).collect();
        assert!(ids.len() == 2 && ids[0] < ids[1], "{ids:?}");
        assert_eq!(store.list_due(now, due, None, 9).await.unwrap(), read);
        let predicted = forecast(&read[0], now, at("2026-07-15T00:00:00Z"));
        assert_eq!(predicted.iter().map(|charge| charge.period).collect::<Vec<_>>(), [2, 3, 4, 5]);

        let (first, total) = store.attempts_since(now, 1).await.unwrap();
        assert_eq!((first.len(), total, first[0].0), (1, 2, ids[0]));
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        assert_eq!(fixture.tick().await, 2);
        let (renewed, total) = store.attempts_since(due, 9).await.unwrap();
        let reported: Vec<_> = renewed.iter().map(|(id, attempt)| (*id, attempt.period, attempt.state)).collect();
        assert_eq!((reported, total), (ids.iter().map(|id| (*id, 2, AttemptState::Succeeded)).collect(), 2));
        assert_eq!(store.next_moment().await.unwrap(), Some(at("2026-04-28T12:00:00Z")));
    }

    async fn a_lost_answer_is_looked_for_at_its_moment(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.shop.acquirer.set_mode(AcquirerMode::Silent);
        assert_eq!(fixture.tick().await, 1);
        let (now, next) = (fixture.shop.clock.now(), db.database.next_moment().await.unwrap().unwrap());
        assert!(next > now && next - now < chrono::TimeDelta::minutes(1), "{next}");
    }
}
