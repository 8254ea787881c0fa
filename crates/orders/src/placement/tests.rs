use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::DateTime;
use kontor_kernel::testing::CountingRandom;
use kontor_kernel::{
    AppScope, ApplicationId, CategoryId, CounterpartyId, CustomerScope, DeliveryTypeId, DiscountId, FixedClock,
    InventoryId, Money, NomenclatureId, OrderId, ProjectId, Quantity, ShopId, StoreError, TokenId, WarehouseId,
};
use kontor_payments::ChargeService;
use kontor_payments::ports::{MockChargeStore, MockPaymentGateway};
use uuid::Uuid;

use super::decide::{Circumstances, decide};
use super::service::{PaymentPage, PlacementService};
use super::*;
use crate::error::PlacementError;
use crate::model::{
    Cart, CartLine, DeliveryRequest, Discount, DiscountStatus, DiscountTarget, DiscountValue, OrderStatus,
    PaymentMethod, Promo, PromoCode, References, ShopReference,
};
use crate::ports::{MockCartReader, MockOrderReader, MockOrderStore, PlaceRefused, Placed};

fn customer() -> CustomerScope {
    CustomerScope {
        app: AppScope {
            project_id: ProjectId::new(1).unwrap(),
            application_id: ApplicationId::new(1).unwrap(),
            wholesale: false,
        },
        counterparty_id: CounterpartyId::new(1).unwrap(),
        token_id: TokenId::new(1).unwrap(),
    }
}

fn circumstances() -> Circumstances<'static> {
    Circumstances {
        customer: customer(),
        key: Uuid::nil(),
        return_url: "https://shop.example",
        at: DateTime::UNIX_EPOCH,
    }
}

fn place(inventory: i64, warehouse: i64, price: i64, available: u32) -> WarehouseStock {
    WarehouseStock {
        inventory: InventoryId::new(inventory).unwrap(),
        warehouse: WarehouseId::new(warehouse).unwrap(),
        price: Money::from_minor(price).unwrap(),
        available,
    }
}

fn snapshot(places: Vec<WarehouseStock>) -> CartSnapshot {
    CartSnapshot {
        currency: "RUB".to_owned(),
        items: vec![OfferedItem {
            id: NomenclatureId::new(1).unwrap(),
            name: "Vase".to_owned(),
            categories: vec![],
            kind: ItemKind::Goods { places },
            packaging: Packaging { wholesale: true, pieces_per_pack: 6 },
        }],
        references: References {
            delivery_type: Some(true),
            shop: Some(ShopReference { is_active: true, address: "Square 1".to_owned() }),
            ..References::default()
        },
        ..CartSnapshot::default()
    }
}

fn command(quantity: i64) -> OrderCommand {
    let line = CartLine { item: NomenclatureId::new(1).unwrap(), quantity: Quantity::new(quantity).unwrap() };
    OrderCommand {
        cart: Cart::new(vec![line]).unwrap(),
        promo_code: None,
        delivery: DeliveryRequest {
            type_id: DeliveryTypeId::new(1).unwrap(),
            subtype_id: None,
            subtype_param_id: None,
            shop_id: ShopId::new(1).ok(),
            address: None,
            payment_type_id: None,
        },
        payment_method: None,
    }
}

#[test]
fn a_line_comes_from_the_cheapest_warehouse_that_has_enough() {
    let places = vec![place(1, 1, 900, 3), place(2, 3, 1_000, 9), place(3, 2, 1_000, 9), place(4, 4, 1_100, 99)];
    let taken = |quantity| {
        let order = decide(&snapshot(places.clone()), &command(quantity), &circumstances()).unwrap();
        order.lines[0].inventory.map(InventoryId::get)
    };
    assert_eq!((taken(3), taken(4), taken(10)), (Some(1), Some(3), Some(4)));
    let refused = decide(&snapshot(places.clone()), &command(100), &circumstances()).unwrap_err();
    assert_eq!(refused.violations().first(), Some("only 99 pieces are available"));
}

#[test]
fn every_reason_is_given_at_once() {
    let command = OrderCommand {
        promo_code: PromoCode::parse("NOPE").ok(),
        payment_method: Some(PaymentMethod::Sbp),
        ..command(1)
    };
    let snapshot = CartSnapshot {
        promo: Some(Promo { discount: None, used_by_customer: 0 }),
        references: References::default(),
        ..snapshot(vec![place(1, 1, 0, 1)])
    };
    let refused = decide(&snapshot, &command, &circumstances()).unwrap_err().violations();
    let fields: Vec<_> = refused.fields().keys().map(String::as_str).collect();
    assert_eq!(fields, ["delivery_type_id", "payment_method_type", "promo_code", "shop_id"]);
}

#[test]
fn an_online_order_waits_for_its_payment() {
    let online = OrderCommand { payment_method: Some(PaymentMethod::BankCard), ..command(2) };
    let order = decide(&snapshot(vec![place(1, 1, 500, 2)]), &online, &circumstances()).unwrap();
    assert_eq!(order.status, OrderStatus::WaitingForPayment);
    assert_eq!(order.payment.as_ref().map(|payment| payment.amount), Some(order.final_price));
    assert_eq!(order.delivery.address.as_deref(), Some("Square 1"));
    let offline = decide(&snapshot(vec![place(1, 1, 500, 2)]), &command(2), &circumstances()).unwrap();
    assert_eq!((offline.status, offline.payment), (OrderStatus::Created, None));
}

#[test]
fn packs_are_rounded_up() {
    let view = snapshot(vec![place(1, 1, 500, 20)]).view(&command(13).cart, DateTime::UNIX_EPOCH).unwrap();
    assert_eq!(view.packs(), 3);
}

fn service(carts: MockCartReader, store: MockOrderStore) -> PlacementService {
    reading(carts, store, MockOrderReader::new())
}

fn reading(carts: MockCartReader, store: MockOrderStore, orders: MockOrderReader) -> PlacementService {
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
    let random = Arc::new(CountingRandom::new());
    let charges = ChargeService {
        charges: Arc::new(MockChargeStore::new()),
        gateway: Arc::new(MockPaymentGateway::new()),
        clock: clock.clone(),
        random: random.clone(),
    };
    let page = PaymentPage { return_url: "https://shop.example".to_owned() };
    let (carts, store, orders) = (Arc::new(carts), Arc::new(store), Arc::new(orders));
    PlacementService { carts, store, orders, charges: Arc::new(charges), clock, random, page }
}

#[tokio::test]
async fn a_lost_race_is_decided_anew_until_nothing_is_left() {
    let reads = AtomicU32::new(0);
    let mut carts = MockCartReader::new();
    carts.expect_snapshot().times(3).returning(move |_| {
        let left = 2 - reads.fetch_add(1, Ordering::SeqCst);
        Ok(snapshot(vec![place(1, 1, 500, left)]))
    });
    let mut store = MockOrderStore::new();
    store.expect_place().times(2).returning(|_| Err(PlaceRefused::OutOfStock { line: 0 }));
    let refused = service(carts, store).place(customer(), &command(1)).await;
    let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["products.0.quantity"]);
}

#[tokio::test]
async fn prices_that_never_settle_give_up() {
    let mut carts = MockCartReader::new();
    carts.expect_snapshot().returning(|_| Ok(snapshot(vec![place(1, 1, 500, 9)])));
    let mut store = MockOrderStore::new();
    store.expect_place().returning(|_| Err(PlaceRefused::Stale));
    assert!(matches!(service(carts, store).place(customer(), &command(1)).await, Err(PlacementError::Busy)));
}

#[tokio::test]
async fn an_order_that_may_be_stored_is_not_placed_again() {
    let mut carts = MockCartReader::new();
    carts.expect_snapshot().once().returning(|_| Ok(snapshot(vec![place(1, 1, 500, 9)])));
    let mut store = MockOrderStore::new();
    let lost = || PlaceRefused::Store(StoreError::OutcomeUnknown("lost".to_owned()));
    store.expect_place().once().returning(move |_| Err(lost()));
    let outcome = service(carts, store).place(customer(), &command(1)).await;
    assert!(matches!(outcome, Err(PlacementError::Store(StoreError::OutcomeUnknown(_)))), "{outcome:?}");
}

#[tokio::test]
async fn an_order_that_is_stored_and_cannot_be_read_is_not_told_as_refused() {
    let mut carts = MockCartReader::new();
    carts.expect_snapshot().once().returning(|_| Ok(snapshot(vec![place(1, 1, 500, 9)])));
    let mut store = MockOrderStore::new();
    store.expect_place().once().returning(|_| Ok(Placed { order_id: OrderId::new(7).unwrap(), charge: None }));
    let mut orders = MockOrderReader::new();
    orders.expect_find().once().returning(|_| Err(StoreError::Unavailable("gone".to_owned())));
    let outcome = reading(carts, store, orders).place(customer(), &command(1)).await;
    assert!(matches!(outcome, Err(PlacementError::Store(StoreError::OutcomeUnknown(_)))), "{outcome:?}");
}

#[test]
fn an_order_names_the_discounts_it_was_priced_by() {
    let discount = |id, target| Discount {
        id: DiscountId::new(id).unwrap(),
        name: "Sale".to_owned(),
        code: None,
        value: DiscountValue::Percent(1_000),
        target,
        minimum_sum: Money::ZERO,
        starts_at: None,
        ends_at: None,
        usage_limit: None,
        customer_limit: None,
        used_count: 0,
        status: DiscountStatus::Active,
        version: 4,
    };
    let elsewhere = DiscountTarget::Category(CategoryId::new(9).unwrap());
    let automatic = vec![discount(1, elsewhere), discount(2, DiscountTarget::Cart)];
    let snapshot = CartSnapshot { automatic, ..snapshot(vec![place(1, 1, 500, 9)]) };
    let by = decide(&snapshot, &command(1), &circumstances()).unwrap().automatic;
    let ids = |ids: Vec<&DiscountId>| ids.into_iter().map(|id| id.get()).collect::<Vec<_>>();
    assert_eq!((ids(by.seen.keys().collect()), ids(by.covering.iter().collect())), (vec![1, 2], vec![2]));
    assert!(by.seen.values().all(|version| *version == 4));
}
