//! Sales figures, summed up from orders, lines and refunds.

use chrono::{DateTime, NaiveDate, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_kernel::{Money, Zone};
use kontor_orders::model::OrderStatus;
use kontor_orders::ports::ReportReader;
use kontor_orders::reports::{ItemOrder, ItemQuery, ReportPeriod, ReportStep, Sales};

use super::shop::{AcquirerMode, ShopFixture};
use super::staff_fixture::StaffFixture;

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn moment(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn days(first: &str, last: &str) -> ReportPeriod {
    let day = |text: &str| text.parse::<NaiveDate>().unwrap();
    ReportPeriod::new(day(first), day(last), ReportStep::Day).unwrap()
}

fn items(shop: &ShopFixture<'_>, order: ItemOrder, limit: u32) -> ItemQuery {
    let (since, until) = (moment("2026-03-01T00:00:00Z"), moment("2026-03-03T00:00:00Z"));
    ItemQuery { project_id: shop.stock_fixture.project, since, until, order, limit }
}

database_tests! {
    async fn money_counts_when_it_arrives_and_when_it_goes_back(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let (vase, cup) = (shop.goods("Vase", 20, 1_000).await, shop.goods("Cup", 20, 300).await);
        // It is 1 March, 12:00 UTC. An unpaid order counts nowhere.
        shop.placed(&shop.command(&[(vase, 1)])).await;
        let cash = shop.placed(&shop.command(&[(vase, 2), (cup, 1)])).await;
        staff_fixture.move_to(&cash, OrderStatus::Paid).await.unwrap();
        let online = shop.paid_online(&shop.online(&[(cup, 3)])).await;
        shop.wait(9 * 3_600);
        // 21:00 UTC is 2 March in Moscow.
        let late = shop.placed(&shop.command(&[(vase, 1)])).await;
        staff_fixture.move_to(&late, OrderStatus::Paid).await.unwrap();
        staff_fixture.take_back(cash.id, &[(cash.lines[0].id, 1)]).await.unwrap();
        staff_fixture.take_back(online.id, &[(online.lines[0].id, 2)]).await.unwrap();

        let project = shop.stock_fixture.project;
        let period = days("2026-03-01", "2026-03-02");
        let sums = async |zone: Zone| db.database.sales(project, period.spans(zone), 3).await.unwrap();
        let sales = |orders, revenue, refunds, refunded| {
            Sales { orders, revenue: money(revenue), refunds, refunded: money(refunded) }
        };
        // The refund of the online payment is pending.
        let expected = vec![(0, sales(2, 3_200, 0, 0)), (1, sales(1, 1_000, 1, 1_000))];
        assert_eq!(sums(Zone::default()).await, Some(expected));
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.reconcile_refunds().await;
        let expected = vec![(0, sales(2, 3_200, 0, 0)), (1, sales(1, 1_000, 2, 1_600))];
        assert_eq!(sums(Zone::default()).await, Some(expected));
        let expected = vec![(0, sales(3, 4_200, 2, 1_600)), (1, sales(0, 0, 0, 0))];
        assert_eq!(sums(Zone::UTC).await, Some(expected));

        assert_eq!(db.database.sales(project, period.spans(Zone::UTC), 2).await.unwrap(), None);
        let other = crate::fixtures::project(&db).await;
        let nothing = vec![(0, Sales::default()), (1, Sales::default())];
        assert_eq!(db.database.sales(other, period.spans(Zone::UTC), 3).await.unwrap(), Some(nothing));
        assert_eq!(db.database.sales(project, vec![], 3).await.unwrap(), Some(vec![]));
    }

    async fn items_are_ordered_by_what_they_sold(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let (vase, cup) = (shop.goods("Vase", 20, 1_000).await, shop.goods("Cup", 20, 300).await);
        let order = shop.placed(&shop.command(&[(vase, 2), (cup, 4)])).await;
        staff_fixture.move_to(&order, OrderStatus::Paid).await.unwrap();
        staff_fixture.take_back(order.id, &[(order.lines[0].id, 1)]).await.unwrap();

        let best = async |order, limit| db.database.best_sellers(items(&shop, order, limit), 1).await.unwrap().unwrap();
        let by_revenue = best(ItemOrder::Revenue, 50).await;
        let names: Vec<&str> = by_revenue.iter().map(|sales| sales.item.name.as_str()).collect();
        assert_eq!(names, ["Vase", "Cup"]);
        let first = &by_revenue[0];
        assert_eq!((first.item.id.get(), first.quantity, first.revenue), (vase, 2, money(2_000)));
        assert_eq!((first.returned, first.refunded, first.available), (1, money(1_000), Some(19)));
        let by_quantity = best(ItemOrder::Quantity, 1).await;
        assert_eq!((by_quantity.len(), by_quantity[0].item.id.get(), by_quantity[0].available), (1, cup, Some(16)));

        assert_eq!(db.database.best_sellers(items(&shop, ItemOrder::Revenue, 50), 0).await.unwrap(), None);
        let elsewhere = ItemQuery { project_id: crate::fixtures::project(&db).await, ..items(&shop, ItemOrder::Revenue, 50) };
        assert_eq!(db.database.best_sellers(elsewhere, 1).await.unwrap(), Some(vec![]));
        let later = ItemQuery { since: moment("2026-03-02T00:00:00Z"), ..items(&shop, ItemOrder::Revenue, 50) };
        assert_eq!(db.database.best_sellers(later, 1).await.unwrap(), Some(vec![]));
    }

    async fn a_report_costs_the_same_however_long_it_is(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let mut costs = std::collections::BTreeSet::new();
        for period in [days("2026-03-01", "2026-03-01"), days("2025-03-01", "2026-03-01")] {
            let before = db.statements();
            db.database.sales(shop.stock_fixture.project, period.spans(Zone::default()), 1).await.unwrap();
            costs.insert(db.statements() - before);
        }
        assert_eq!(costs.len(), 1, "{costs:?}");
    }
}
