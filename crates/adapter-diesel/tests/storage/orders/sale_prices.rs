//! Storefront and orders have the same prices, for any discounts.

use std::collections::BTreeMap;

use kontor_adapter_diesel::database_tests;
use kontor_catalog::storefront::ports::StorefrontReader;
use kontor_catalog::storefront::{ProductFilter, ProductOrder};
use kontor_kernel::{Clock, Money, NomenclatureId, PageRequest};
use kontor_orders::model::{Cart, CartLine};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::shop::ShopFixture;
use crate::stock_fixture::Item;

/// A discount by indexes into the lists of categories and items.
#[derive(Debug, Clone)]
struct AnyDiscount {
    fixed: bool,
    value: i64,
    target: Option<(bool, usize)>,
    minimum: i64,
    /// Seconds from now to the first time, and from there to the second one.
    period: (Option<i64>, Option<i64>),
    paused: bool,
}

const CATEGORIES: usize = 6;
const PRICES: [i64; 9] = [1, 3, 99, 100, 333, 9_999, 10_000, 54_321, 1_000_000];

fn any_discount() -> impl Strategy<Value = AnyDiscount> {
    let target = prop_oneof![
        4 => (0..CATEGORIES).prop_map(|place| Some((true, place))),
        4 => (0..PRICES.len() + 1).prop_map(|place| Some((false, place))),
        1 => Just(None),
    ];
    let minimum = prop_oneof![3 => Just(0), 1 => prop::sample::select(PRICES.to_vec())];
    let edge = || prop::option::weighted(0.3, prop::sample::select(vec![-5_i64, 0, 5]));
    let value = prop_oneof![(1..=10_000i64), prop::sample::select(PRICES.to_vec())];
    (any::<bool>(), value, target, minimum, (edge(), edge()), prop::bool::weighted(0.1)).prop_map(
        |(fixed, value, target, minimum, period, paused)| AnyDiscount {
            fixed,
            value: if fixed { value } else { value.min(10_000) },
            target,
            minimum,
            period,
            paused,
        },
    )
}

impl AnyDiscount {
    fn insert(&self, project: i64, now: chrono::DateTime<chrono::Utc>, categories: &[i64], items: &[i64]) -> String {
        let kind = if self.fixed { "fixed" } else { "percent" };
        let (target, id) = match self.target {
            None => ("cart", "NULL".to_owned()),
            Some((true, place)) => ("category", categories[place].to_string()),
            Some((false, place)) => ("product", items[place].to_string()),
        };
        let moment = |seconds: Option<i64>| match seconds {
            None => "NULL".to_owned(),
            Some(seconds) => format!("'{}'", (now + chrono::TimeDelta::seconds(seconds)).format("%F %T")),
        };
        let status = if self.paused { "paused" } else { "active" };
        format!(
            "INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, starts_at, ends_at, \
             used_count, status, created_at, updated_at) VALUES ({project}, 'D', '{kind}', {}, '{target}', {id}, {}, {}, {}, \
             0, '{status}', '2026-01-01 00:00:00', '2026-01-01 00:00:00');",
            self.value,
            self.minimum,
            moment(self.period.0),
            moment(self.period.1),
        )
    }
}

fn page() -> PageRequest {
    PageRequest::new(1, 100, 100).unwrap()
}

/// Price of one unit in an order, before discounts on the whole cart.
async fn ordered(shop: &ShopFixture<'_>, item: NomenclatureId) -> Money {
    let line = CartLine { item, quantity: kontor_kernel::Quantity::ONE };
    let cart = Cart::new(vec![line]).unwrap();
    shop.placement.precalculate(shop.stock_fixture.first.into(), &cart, None, None).await.unwrap().pricing.final_price()
}

database_tests! {
    async fn the_price_of_the_storefront_is_the_price_of_the_line(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let stock_fixture = &shop.stock_fixture;
        // Two trees: a root with two children, of which one has another two, and a root alone.
        let root = shop.category;
        let left = stock_fixture.category("Left", Some(root)).await;
        let right = stock_fixture.category("Right", Some(root)).await;
        let deep = stock_fixture.category("Deep", Some(left)).await;
        let deeper = stock_fixture.category("Deeper", Some(deep)).await;
        let alone = stock_fixture.category("Alone", None).await;
        let categories = [root, left, right, deep, deeper, alone];
        let mut items = Vec::new();
        for (place, price) in PRICES.into_iter().enumerate() {
            let item = stock_fixture.item(Item::goods("Thing", categories[place % CATEGORIES])).await;
            stock_fixture.stock(stock_fixture.near, item, 5, price).await;
            stock_fixture.stock(stock_fixture.far, item, 5, price + 7).await;
            items.push(item);
        }
        items.push(stock_fixture.item(Item { kind: 1, category: None, price: 700, ..Item::goods("Service", 0) }).await);
        db.database.rebuild_offers().await.unwrap();

        let mut runner = TestRunner::deterministic();
        let sets = prop::collection::vec(any_discount(), 0..8);
        let (now, app) = (shop.clock.now(), stock_fixture.first);
        let mut reduced = 0;
        for _ in 0..25 {
            let set = sets.new_tree(&mut runner).unwrap().current();
            // Discounts on the cart are not part of the shown price.
            let on_shelves = set.iter().filter(|discount| discount.target.is_some());
            let inserts: Vec<_> = on_shelves.map(|one| one.insert(stock_fixture.project.get(), now, &categories, &items)).collect();
            stock_fixture.run(format!("DELETE FROM discounts; {}", inserts.join(" "))).await;

            let mut expected = BTreeMap::new();
            for item in &items {
                let id = NomenclatureId::new(*item).unwrap();
                let price = ordered(&shop, id).await;
                let card = db.database.product(app.into(), id, now).await.unwrap().unwrap().product;
                assert_eq!(card.price, price, "item {item} with {set:?}");
                reduced += usize::from(card.old_price.is_some());
                expected.insert(*item, (price, card.old_price));
            }
            let on_cart: Vec<_> = set.iter().filter(|discount| discount.target.is_none()).collect();
            for discount in on_cart {
                stock_fixture.run(discount.insert(stock_fixture.project.get(), now, &categories, &items)).await;
            }
            let list = async |filter: ProductFilter, order| {
                let found = db.database.products(app.into(), filter, order, page(), now).await.unwrap().items;
                found.into_iter().map(|product| (product.id.get(), (product.price, product.old_price))).collect::<Vec<_>>()
            };
            let all = list(ProductFilter::default(), None).await;
            assert_eq!(all, expected.clone().into_iter().collect::<Vec<_>>(), "{set:?}");

            let mut by_price = all.clone();
            by_price.sort_by_key(|(id, (price, _))| (*price, *id));
            assert_eq!(list(ProductFilter::default(), Some(ProductOrder::PriceAscending)).await, by_price, "{set:?}");
            by_price.reverse();
            assert_eq!(list(ProductFilter::default(), Some(ProductOrder::PriceDescending)).await, by_price, "{set:?}");

            let sale = ProductFilter { on_sale: true, ..ProductFilter::default() };
            let sold: Vec<_> = all.iter().copied().filter(|(_, (_, old))| old.is_some()).collect();
            assert_eq!(list(sale.clone(), None).await, sold, "{set:?}");
            let (from, to) = (Money::from_minor(50).unwrap(), Money::from_minor(9_000).unwrap());
            let between = ProductFilter { price_from: Some(from), price_to: Some(to), ..ProductFilter::default() };
            let inside: Vec<_> = all.iter().copied().filter(|(_, (price, _))| (from..=to).contains(price)).collect();
            assert_eq!(list(between.clone(), None).await, inside, "{set:?}");
            for (filter, rows) in [(ProductFilter::default(), &all), (sale, &sold), (between, &inside)] {
                let range = db.database.price_range(app, filter, now).await.unwrap();
                let prices = || rows.iter().map(|(_, (price, _))| *price);
                assert_eq!(range.map(|range| (range.lowest, range.highest)), prices().min().zip(prices().max()), "{set:?}");
            }
        }
        assert!(reduced > 30, "only {reduced} prices were reduced at all");
    }
}
