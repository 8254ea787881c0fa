use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::listing::Sort;
use kontor_kernel::{CustomerScope, DeliveryTypeId, Listing, OrderId, PageRequest, ProjectId};

use super::{Fixture, Lines, money, moved, noon, nothing, on_receipt, placed, placed_online, recorded, success};
use crate::model::{DeliveryChoice, OrderStatus, ReservationState};
use crate::ports::{DeliverySettings, DeliveryTerms, ReportReader, ReservationReader};
use crate::reports::{ItemOrder, ItemQuery, Sales, Span};

/// Storage that also serves staff: settings of deliveries, lists of order lines and reports.
#[async_trait]
pub trait StaffFixture: Fixture<Store: DeliverySettings + ReservationReader + ReportReader> {
    /// Returns a new project without orders, and an active delivery type of it with an active subtype, both free.
    async fn project(&self) -> (ProjectId, DeliveryChoice);
}

/// Delivery prices belong to one project. The type and its subtype have prices of their own.
pub async fn delivery_prices_belong_to_a_project<F: StaffFixture>(fixture: &F) {
    let (store, (ours, choice), (theirs, _)) = (fixture.store(), fixture.project().await, fixture.project().await);
    let terms = async |project| store.delivery_terms(project).await.unwrap();
    let before = terms(theirs).await.unwrap();
    let of_type = DeliveryChoice { subtype_id: None, ..choice };
    for (charges, of, price) in [(true, of_type, 30_000), (false, choice, 5_000), (true, choice, 7_000)] {
        assert!(store.set_charges_delivery(ours, charges).await.unwrap());
        assert!(store.set_delivery_price(ours, of, money(price)).await.unwrap());
        assert_eq!(terms(ours).await.map(|terms| terms.charges_delivery), Some(charges));
    }
    let price_of = |terms: &DeliveryTerms| {
        let chosen = terms.ways.iter().find(|way| way.subtype.as_ref().map(|subtype| subtype.id) == choice.subtype_id);
        chosen.map(|way| (way.delivery_type.price, way.price()))
    };
    let after = terms(ours).await.unwrap();
    assert_eq!(price_of(&after), Some((money(30_000), money(37_000))));
    assert_eq!(terms(theirs).await, Some(before));
    let elsewhere = DeliveryTypeId::new(choice.type_id.get() + 7).unwrap();
    let unknown = [
        DeliveryChoice { type_id: elsewhere, ..of_type },
        DeliveryChoice { type_id: elsewhere, ..choice },
        DeliveryChoice { subtype_id: Some(nothing()), ..choice },
    ];
    for choice in unknown {
        assert!(!store.set_delivery_price(ours, choice, money(1)).await.unwrap(), "{choice:?}");
    }
    assert_eq!(terms(ours).await, Some(after));
    assert_eq!(terms(nothing()).await, None);
    assert!(!store.set_charges_delivery(nothing(), true).await.unwrap());
    assert!(!store.set_delivery_price(nothing(), of_type, money(1)).await.unwrap());
}

async fn ordered<F: Fixture>(fixture: &F, customer: CustomerScope, lines: Lines<'_>) -> OrderId {
    placed(fixture, on_receipt(fixture, customer, lines).await).await.order_id
}

/// The lines of a project are listed page by page, each once, although an order changes between the pages.
pub async fn order_lines_are_listed_by_project<F: StaffFixture>(fixture: &F) {
    let (store, anna, (theirs, _)) = (fixture.store(), fixture.customer().await, fixture.project().await);
    let (vase, cup) = (fixture.goods(9, money(1_000)).await, fixture.goods(9, money(300)).await);
    let first = ordered(fixture, anna, &[(vase, 2), (cup, 1)]).await;
    let second = ordered(fixture, anna, &[(cup, 3)]).await;
    let list = async |project, number, size| {
        let listing = Listing::unfiltered(Sort::descending("id"), PageRequest::new(number, size, 100).unwrap());
        ReservationReader::list(&*store, project, listing).await.unwrap()
    };
    let mut listed = Vec::new();
    for number in 1..=3 {
        let page = list(anna.app.project_id, number, 1).await;
        assert_eq!(page.total, 3);
        listed.extend(page.items.into_iter().map(|line| (line.order_id, line.item.id, line.quantity.get())));
        if number == 1 {
            moved(fixture, anna, second, OrderStatus::Canceled).await.unwrap();
        }
    }
    assert_eq!(listed[0], (second, cup, 3), "newest first");
    listed.sort_unstable();
    let mut expected = vec![(first, vase, 2), (first, cup, 1), (second, cup, 3)];
    expected.sort_unstable();
    assert_eq!(listed, expected);
    let all = list(anna.app.project_id, 1, 9).await.items;
    let of_second = all.iter().find(|line| line.order_id == second).unwrap();
    assert_eq!((of_second.order_status, of_second.state), (OrderStatus::Canceled, ReservationState::Released));
    assert!(all.iter().filter(|line| line.order_id == first).all(|line| line.state == ReservationState::Held));
    assert_eq!(list(theirs, 1, 9).await.total, 0);
    let listing = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 9, 9).unwrap());
    let own = ReservationReader::list(&*store, anna.app.project_id, listing.among("order_id", [second.get()])).await;
    assert_eq!(own.unwrap().total, 1);
}

fn hours(number: i64) -> DateTime<Utc> {
    noon() + TimeDelta::hours(number)
}

/// An order counts once, in the project and at the time of its money. An unpaid order counts nowhere.
pub async fn money_counts_when_it_arrives<F: StaffFixture>(fixture: &F) {
    let (store, anna, (theirs, _)) = (fixture.store(), fixture.customer().await, fixture.project().await);
    let vase = fixture.goods(9, money(1_000)).await;
    placed_online(fixture, anna, &[(vase, 1)]).await;
    let (_, charge) = placed_online(fixture, anna, &[(vase, 2)]).await;
    assert_eq!(recorded(fixture, &charge, success).await, 1);
    // The second span begins with the time of the payment, and the first one ends with it.
    let spans = [(0, -1), (1, 0)].map(|(row, hour)| Span { row, since: hours(hour), until: hours(hour + 1) });
    let sales = async |project, most| {
        let sums = store.sales(project, spans.to_vec(), most).await.unwrap();
        sums.map(|sums| sums.into_iter().collect::<BTreeMap<_, _>>())
    };
    let paid = Sales { orders: 1, revenue: money(2_000), ..Sales::default() };
    let none = Sales::default();
    assert_eq!(sales(anna.app.project_id, 1).await, Some(BTreeMap::from([(0, none), (1, paid)])));
    assert_eq!(sales(anna.app.project_id, 0).await, None, "more orders than are summed up");
    assert_eq!(sales(theirs, 0).await, Some(BTreeMap::from([(0, none), (1, none)])));
}

/// The best-selling items of a project are those of its paid orders; of equal ones, the oldest comes first.
pub async fn items_are_ranked_by_their_sales<F: StaffFixture>(fixture: &F) {
    let (store, anna, (theirs, _)) = (fixture.store(), fixture.customer().await, fixture.project().await);
    let mut items = Vec::new();
    for price in [3_000, 500, 3_000] {
        items.push(fixture.goods(9, money(price)).await);
    }
    let (vase, cup, bowl) = (items[0], items[1], items[2]);
    placed_online(fixture, anna, &[(cup, 5)]).await;
    let (_, charge) = placed_online(fixture, anna, &[(bowl, 1), (cup, 3), (vase, 1)]).await;
    assert_eq!(recorded(fixture, &charge, success).await, 1);
    let best = async |query, most| {
        let items = store.best_sellers(query, most).await.unwrap();
        items.map(|items| items.iter().map(|one| (one.item.id, one.quantity, one.revenue)).collect::<Vec<_>>())
    };
    let project_id = anna.app.project_id;
    let query = ItemQuery { project_id, since: noon(), until: hours(1), order: ItemOrder::Revenue, limit: 9 };
    let (vase, cup, bowl) = ((vase, 1, money(3_000)), (cup, 3, money(1_500)), (bowl, 1, money(3_000)));
    assert_eq!(best(query, 1).await, Some(vec![vase, bowl, cup]));
    assert_eq!(best(ItemQuery { order: ItemOrder::Quantity, ..query }, 1).await, Some(vec![cup, vase, bowl]));
    assert_eq!(best(ItemQuery { limit: 1, ..query }, 1).await, Some(vec![vase]));
    assert_eq!(best(query, 0).await, None, "more orders than are summed up");
    for other in [
        ItemQuery { project_id: theirs, ..query },
        ItemQuery { since: hours(-1), until: noon(), ..query },
        ItemQuery { since: hours(1), until: hours(2), ..query },
    ] {
        assert_eq!(best(other, 9).await, Some(Vec::new()));
    }
}
