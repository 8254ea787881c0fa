use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use chrono::DateTime;
use kontor_kernel::history::Author;
use kontor_kernel::testing::{CountingRandom, staff_with};
use kontor_kernel::{
    AppScope, ApplicationId, CategoryId, CounterpartyId, CustomerScope, DeliveryTypeId, DiscountId, Email, FixedClock,
    InventoryId, Money, NomenclatureId, OrderId, PaymentTypeId, Permission, Phone, ProjectId, Quantity, Resource,
    ShopId, StoreError, TokenId, WarehouseId,
};
use kontor_payments::ChargeService;
use kontor_payments::model::{ReceiptContact, ReceiptTerms, TaxSystem, VatCode};
use kontor_payments::ports::{MockChargeStore, MockPaymentGateway};
use uuid::Uuid;

use super::decide::{Buyer, OrderContext, decide};
use super::*;
use crate::change::Orderer;
use crate::error::{CartError, PlacementError};
use crate::model::testing::a_discount;
use crate::model::{
    Cart, CartLine, DeliveryRequest, Discount, DiscountTarget, DiscountValue, OrderStatus, PaymentMethod, Promo,
    PromoCode, References, ShopReference, TypeReference,
};
use crate::ports::{CartQuery, MockCartReader, MockOrderReader, MockOrderStore, PlaceRefused, Placed};

mod delivery;

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

fn context() -> OrderContext<'static> {
    static BUYER: LazyLock<Buyer> = LazyLock::new(|| Buyer {
        point: customer().app.into(),
        orderer: Orderer::Customer(customer().counterparty_id),
        author: Author::Customer(customer().counterparty_id),
        manager_id: None,
        comment: None,
    });
    OrderContext {
        buyer: &BUYER,
        key: Uuid::nil(),
        tickets: None,
        return_url: "https://shop.example",
        allocation: &FewestWarehouses,
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
            vat: None,
            is_ticket: false,
        }],
        references: References {
            delivery_type: Some(TypeReference { is_active: true, ..TypeReference::default() }),
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
fn a_line_that_no_warehouse_has_alone_comes_from_several() {
    let places = vec![place(1, 1, 900, 5), place(2, 2, 1_000, 2)];
    let order = decide(&snapshot(places.clone()), &command(7), &context()).unwrap();
    let taken: Vec<_> = order.lines.iter().map(|line| (line.position, line.inventory.map(InventoryId::get))).collect();
    assert_eq!(taken, [(0, Some(1)), (0, Some(2))]);
    // Each unit has the price of its warehouse.
    assert_eq!((order.original_price.minor(), order.final_price.minor()), (5 * 900 + 2 * 1_000, 6_500));
    let refused = decide(&snapshot(places), &command(8), &context()).unwrap_err();
    assert_eq!(refused.violations().first(), Some("only 7 pieces are available"));
}

#[test]
fn online_payment_needs_a_method_unless_the_order_is_free() {
    let references = |price| {
        let known = snapshot(vec![place(1, 1, price, 9)]);
        CartSnapshot { references: References { payment_type: Some(true), ..known.references.clone() }, ..known }
    };
    let by_type = |command: OrderCommand| {
        let delivery = DeliveryRequest { payment_type_id: PaymentTypeId::new(9).ok(), ..command.delivery };
        OrderCommand { delivery, ..command }
    };
    let fields = |refused: OrderRefused| refused.violations().fields().keys().cloned().collect::<Vec<_>>();
    let refused = decide(&references(500), &by_type(command(1)), &context()).unwrap_err();
    assert_eq!(refused.payment, Some(PaymentProblem::MethodRequired));
    assert_eq!(fields(refused), ["payment_method_type"]);
    assert!(decide(&references(500), &by_type(online(1)), &context()).unwrap().payment.is_some());
    assert_eq!(decide(&references(0), &by_type(command(1)), &context()).unwrap().payment, None);
    // All other errors are reported with it.
    let refused = decide(&references(500), &by_type(command(10)), &context()).unwrap_err();
    assert_eq!(fields(refused), ["payment_method_type", "products.0.quantity"]);
}

fn online(quantity: i64) -> OrderCommand {
    OrderCommand { payment_method: Some(PaymentMethod::BankCard), ..command(quantity) }
}

fn with_receipts(places: Vec<WarehouseStock>) -> CartSnapshot {
    let terms = ReceiptTerms { tax_system: TaxSystem::new(2).ok(), default_vat: VatCode::new(7).unwrap() };
    CartSnapshot { receipts: Some(terms), phone: Phone::parse("79001234567").ok(), ..snapshot(places) }
}

#[test]
fn the_payment_of_an_order_has_a_receipt_about_all_of_it() {
    let mut snapshot = with_receipts(vec![place(1, 1, 999, 5), place(2, 2, 1_000, 2)]);
    let order = decide(&snapshot, &online(7), &context()).unwrap();
    let payment = order.payment.as_ref().unwrap();
    let receipt = payment.receipt.as_ref().unwrap();
    assert_eq!((receipt.total(), receipt.tax_system()), (payment.amount, TaxSystem::new(2).ok()));
    let lines: Vec<_> = receipt.lines().iter().map(|line| (line.quantity(), line.price().minor())).collect();
    assert_eq!(lines, [(5, 999), (2, 1_000)]);
    assert!(receipt.lines().iter().all(|line| line.vat() == VatCode::new(7).unwrap()));
    assert_eq!(payment.request(OrderId::new(7).unwrap()).receipt.as_ref(), Some(receipt));
    snapshot.items[0].vat = VatCode::new(4).ok();
    let order = decide(&snapshot, &online(7), &context()).unwrap();
    assert!(order.lines.iter().all(|line| line.vat == VatCode::new(4).ok()));
    // Orders paid on receipt get their receipt then.
    assert_eq!(decide(&snapshot, &command(7), &context()).unwrap().payment, None);
    snapshot.receipts = None;
    let order = decide(&snapshot, &online(7), &context()).unwrap();
    assert_eq!((order.payment.unwrap().receipt, order.lines[0].vat), (None, None));
}

#[test]
fn a_receipt_goes_to_the_phone_or_else_to_the_address() {
    let mut snapshot = with_receipts(vec![place(1, 1, 999, 5)]);
    let contact = |snapshot: &CartSnapshot| {
        let order = decide(snapshot, &online(1), &context())?;
        Ok::<_, OrderRefused>(order.payment.unwrap().receipt.unwrap().customer().clone())
    };
    snapshot.email = Email::parse("anna@example.com").ok();
    assert!(matches!(contact(&snapshot), Ok(ReceiptContact::Phone(_))));
    snapshot.phone = None;
    assert!(matches!(contact(&snapshot), Ok(ReceiptContact::Email(_))));
    snapshot.email = None;
    let refused = contact(&snapshot).unwrap_err();
    assert_eq!(refused.payment, Some(PaymentProblem::NoContact));
    assert!(refused.violations().fields().contains_key("payment_method_type"));
    assert!(decide(&snapshot, &command(1), &context()).is_ok());
}

#[test]
fn a_cart_shows_one_line_for_each_price() {
    let shown = |second| {
        let snapshot = snapshot(vec![place(1, 1, 900, 5), place(2, 2, second, 2)]);
        let view = snapshot.view(&command(7).cart, &FewestWarehouses, DateTime::UNIX_EPOCH).unwrap();
        view.lines.iter().map(|line| (line.unit_price.minor(), line.quantity.get())).collect::<Vec<_>>()
    };
    assert_eq!(shown(900), [(900, 7)]);
    assert_eq!(shown(1_000), [(900, 5), (1_000, 2)]);
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
    let refused = decide(&snapshot, &command, &context()).unwrap_err().violations();
    let fields: Vec<_> = refused.fields().keys().map(String::as_str).collect();
    assert_eq!(fields, ["delivery_type_id", "payment_method_type", "promo_code", "shop_id"]);
}

#[test]
fn an_online_order_waits_for_its_payment() {
    let online = OrderCommand { payment_method: Some(PaymentMethod::BankCard), ..command(2) };
    let order = decide(&snapshot(vec![place(1, 1, 500, 2)]), &online, &context()).unwrap();
    assert_eq!(order.status, OrderStatus::WaitingForPayment);
    assert_eq!(order.payment.as_ref().map(|payment| payment.amount), Some(order.final_price));
    assert_eq!(order.delivery.address.as_deref(), Some("Square 1"));
    let offline = decide(&snapshot(vec![place(1, 1, 500, 2)]), &command(2), &context()).unwrap();
    assert_eq!((offline.status, offline.payment), (OrderStatus::Created, None));
}

#[test]
fn packs_are_rounded_up() {
    let view =
        snapshot(vec![place(1, 1, 500, 20)]).view(&command(13).cart, &FewestWarehouses, DateTime::UNIX_EPOCH).unwrap();
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
    let allocation = Arc::new(FewestWarehouses);
    PlacementService { carts, store, orders, charges: Arc::new(charges), clock, random, page, allocation }
}

#[tokio::test]
async fn a_lost_race_is_decided_again_until_nothing_is_left() {
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
async fn an_order_that_is_stored_and_cannot_be_read_is_not_refused() {
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
    let discount = |id, target| {
        let id = DiscountId::new(id).unwrap();
        Discount { id, version: 4, ..a_discount(DiscountValue::Percent(1_000), target) }
    };
    let elsewhere = DiscountTarget::Category(CategoryId::new(9).unwrap());
    let automatic = vec![discount(1, elsewhere), discount(2, DiscountTarget::Cart)];
    let snapshot = CartSnapshot { automatic, ..snapshot(vec![place(1, 1, 500, 9)]) };
    let by = decide(&snapshot, &command(1), &context()).unwrap().automatic;
    let ids = |ids: Vec<&DiscountId>| ids.into_iter().map(|id| id.get()).collect::<Vec<_>>();
    assert_eq!((ids(by.seen.keys().collect()), ids(by.covering.iter().collect())), (vec![1, 2], vec![2]));
    assert!(by.seen.values().all(|version| *version == 4));
}

fn staff_command(lines: OrderCommand) -> StaffOrderCommand {
    let counterparty_id = CounterpartyId::new(4).unwrap();
    StaffOrderCommand { application_id: None, counterparty_id, manager_id: None, comment: None, order: lines }
}

#[tokio::test]
async fn staff_order_for_a_customer_of_the_project() {
    let mut carts = MockCartReader::new();
    let asked = |query: &CartQuery| query.by_staff && query.point.application_id.is_none();
    carts.expect_snapshot().withf(asked).once().returning(|_| Ok(snapshot(vec![place(1, 1, 500, 9)])));
    let mut store = MockOrderStore::new();
    store
        .expect_place()
        .withf(|order| order.application_id.is_none() && !matches!(order.author, Author::Customer(_)))
        .once()
        .returning(|_| Err(PlaceRefused::UnknownManager));
    let staff = staff_with([Permission::create(Resource::Orders)]);
    let refused = service(carts, store).place_by_staff(&staff, &staff_command(command(1))).await;
    let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["manager_id"]);
}

#[tokio::test]
async fn references_of_staff_need_the_project_and_the_permission() {
    let mut carts = MockCartReader::new();
    let missing = Missing { application: true, customer: true };
    let found = move |_| Ok(CartSnapshot { missing, ..snapshot(vec![place(1, 1, 500, 9)]) });
    carts.expect_snapshot().times(2).returning(found);
    let service = service(carts, MockOrderStore::new());
    let staff = staff_with([Permission::create(Resource::Orders), Permission::view(Resource::Orders)]);
    let refused = service.place_by_staff(&staff, &staff_command(command(1))).await;
    let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["application_id", "counterparty_id"]);
    let refused = service.calculate(&staff, None, None, &command(1).cart, None, None).await;
    assert!(matches!(refused, Err(CartError::Missing(_))), "{refused:?}");
    let idle = staff_with([Permission::edit(Resource::Counterparties)]);
    let refused = service.place_by_staff(&idle, &staff_command(command(1))).await;
    assert!(matches!(refused, Err(PlacementError::Denied(_))), "{refused:?}");
    let refused = service.calculate(&idle, None, None, &command(1).cart, None, None).await;
    assert!(matches!(refused, Err(CartError::Denied(_))), "{refused:?}");
}

fn spring() -> Discount {
    let (id, code) = (DiscountId::new(5).unwrap(), Some("SPRING".to_owned()));
    Discount { id, code, version: 4, ..a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart) }
}

#[test]
fn an_order_uses_the_promo_code_that_it_was_priced_by() {
    let promo = Some(Promo { discount: Some(spring()), used_by_customer: 0 });
    let shop = CartSnapshot { promo, ..snapshot(vec![place(1, 1, 500, 9)]) };
    let command = OrderCommand { promo_code: PromoCode::parse("SPRING").ok(), ..command(2) };
    let order = decide(&shop, &command, &context()).unwrap();
    let expected =
        crate::change::PromoUse { discount_id: DiscountId::new(5).unwrap(), code: "SPRING".to_owned(), version: 4 };
    assert_eq!(order.promo, Some(expected));
    assert_eq!((order.promo_discount.minor(), order.final_price.minor()), (100, 900));
    let without = snapshot(vec![place(1, 1, 500, 9)]);
    assert_eq!(decide(&without, &command, &context()).unwrap().promo, None);
}

#[test]
fn a_line_that_is_worth_too_much_is_named_by_its_place_in_the_cart() {
    let dear = Money::MAX.minor();
    // The first line of the cart comes from two warehouses, so the second cart line is the third priced line.
    let mut shop = snapshot(vec![place(1, 1, 1, 5), place(2, 2, 1, 2)]);
    let second = OfferedItem {
        id: NomenclatureId::new(2).unwrap(),
        kind: ItemKind::Service { price: Money::from_minor(dear).unwrap() },
        ..shop.items[0].clone()
    };
    shop.items.push(second);
    let line = |item, quantity| CartLine {
        item: NomenclatureId::new(item).unwrap(),
        quantity: Quantity::new(quantity).unwrap(),
    };
    let command = OrderCommand { cart: Cart::new(vec![line(1, 7), line(2, 2)]).unwrap(), ..command(1) };
    let refused = decide(&shop, &command, &context()).unwrap_err().violations();
    assert_eq!(refused.fields().keys().collect::<Vec<_>>(), ["products.1.quantity"]);
}

#[test]
fn items_without_an_application_are_unknown_and_services_are_shown_everywhere() {
    let refused = decide(&snapshot(vec![]), &command(1), &context()).unwrap_err().violations();
    assert_eq!(refused.first(), Some("there is no such product"));
    let mut shop = snapshot(vec![]);
    shop.items[0].kind = ItemKind::Service { price: Money::from_minor(700).unwrap() };
    let order = decide(&shop, &command(3), &context()).unwrap();
    assert_eq!((order.lines[0].inventory, order.final_price.minor()), (None, 2_100));
    shop.items.clear();
    let refused = decide(&shop, &command(1), &context()).unwrap_err().violations();
    assert_eq!(refused.fields().keys().collect::<Vec<_>>(), ["products.0.id"]);
}

/// A stored order as it is read afterwards.
fn stored() -> Order {
    crate::model::testing::an_order(OrderStatus::Created)
}

fn found(project: i64) -> MockOrderReader {
    let mut orders = MockOrderReader::new();
    orders
        .expect_find()
        .returning(move |_| Ok(Some(kontor_kernel::ProjectScoped::new(ProjectId::new(project).unwrap(), stored()))));
    orders
}

#[tokio::test]
async fn an_order_is_ready_when_it_is_stored_and_read_in_its_project() {
    for project in [1, 2] {
        let mut carts = MockCartReader::new();
        let asked = |query: &CartQuery| !query.by_staff && query.customer == Some(customer().counterparty_id);
        carts.expect_snapshot().withf(asked).once().returning(|_| Ok(snapshot(vec![place(1, 1, 500, 9)])));
        let mut store = MockOrderStore::new();
        store.expect_place().once().returning(|_| Ok(Placed { order_id: OrderId::new(7).unwrap(), charge: None }));
        let outcome = reading(carts, store, found(project)).place(customer(), &command(1)).await;
        match outcome {
            Ok(placed) => assert_eq!((project, placed), (1, PlacedOutcome::Ready(stored()))),
            Err(error) => assert!(project == 2 && matches!(error, PlacementError::Store(StoreError::Corrupt(_)))),
        }
    }
}

#[tokio::test]
async fn each_refusal_of_the_storage_has_its_name() {
    let refused_by = async |refusal: fn() -> PlaceRefused| {
        let mut carts = MockCartReader::new();
        carts.expect_snapshot().returning(|_| Ok(snapshot(vec![place(1, 1, 500, 9)])));
        let mut store = MockOrderStore::new();
        store.expect_place().returning(move |_| Err(refusal()));
        service(carts, store).place(customer(), &command(1)).await.unwrap_err()
    };
    assert!(matches!(refused_by(|| PlaceRefused::CustomerDeleted).await, PlacementError::CustomerDeleted));
    let PlacementError::Refused(refused) = refused_by(|| PlaceRefused::PromoExhausted).await else { panic!() };
    assert_eq!(refused.promo, Some(PromoProblem::LimitReached));
    let PlacementError::Refused(refused) = refused_by(|| PlaceRefused::OutOfStock { line: 3 }).await else { panic!() };
    assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["products.3.quantity"]);
}

#[tokio::test]
async fn a_cart_is_priced_for_who_asks() {
    let shop = || Ok(snapshot(vec![place(1, 1, 500, 9)]));
    let mut carts = MockCartReader::new();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = asked.clone();
    let by_customer = |query: &CartQuery| !query.by_staff && query.point.application_id.is_some();
    let answer = move |query: CartQuery| {
        noted.lock().unwrap().push(query.customer);
        shop()
    };
    carts.expect_snapshot().withf(by_customer).times(2).returning(answer);
    let by_staff = |query: &CartQuery| query.by_staff && query.point.application_id.is_none();
    carts.expect_snapshot().withf(by_staff).once().returning(move |_| shop());
    let service = service(carts, MockOrderStore::new());
    for visitor in [customer().app.into(), customer().into()] {
        let view = service.precalculate(visitor, &command(2).cart, None, None).await.unwrap();
        assert_eq!(view.pricing.final_price().minor(), 1_000);
    }
    assert_eq!(
        *asked.lock().unwrap(),
        [None, Some(customer().counterparty_id)],
        "their own uses of a promo code count"
    );
    let staff = staff_with([Permission::view(Resource::Orders)]);
    let view = service.calculate(&staff, None, None, &command(3).cart, None, None).await.unwrap();
    assert_eq!(view.pricing.final_price().minor(), 1_500);
}

#[tokio::test]
async fn a_visitor_orders_by_name_and_phone() {
    let name = |text: &str| kontor_kernel::Name::parse(text).unwrap();
    let person = crate::change::ContactPerson {
        first_name: name("Anna"),
        last_name: name("Karenina"),
        middle_name: None,
        phone: Phone::parse("79001234567").unwrap(),
    };
    let mut carts = MockCartReader::new();
    let asked = |query: &CartQuery| query.customer.is_none() && !query.by_staff && query.promo.is_none();
    let type_id = DeliveryTypeId::new(2).unwrap();
    let references = References {
        delivery_type: Some(TypeReference { is_active: true, ..TypeReference::default() }),
        subtype: Some(crate::model::SubtypeReference { type_id, price: Money::ZERO, is_active: true }),
        payment_type: Some(false),
        ..References::default()
    };
    carts
        .expect_snapshot()
        .withf(asked)
        .once()
        .returning(move |_| Ok(CartSnapshot { references: references.clone(), ..snapshot(vec![place(1, 1, 500, 9)]) }));
    let mut store = MockOrderStore::new();
    store
        .expect_place()
        .withf(|order| {
            let reported = order.comment.as_ref().map(kontor_kernel::Prose::as_str);
            order.author == Author::System
                && reported == Some("Karenina Anna")
                && order.phone == Phone::parse("79001234567").ok()
                && order.delivery.address.as_deref() == Some("Lenina 1")
        })
        .once()
        .returning(|_| Ok(Placed { order_id: OrderId::new(7).unwrap(), charge: None }));
    let command = ContactOrderCommand {
        person,
        cart: command(1).cart,
        address: crate::model::Address::parse("Lenina 1").unwrap(),
        payment_type_id: PaymentTypeId::new(9).unwrap(),
    };
    let outcome = reading(carts, store, found(1)).place_by_contact(customer().app, &command).await.unwrap();
    assert_eq!(outcome, PlacedOutcome::Ready(stored()));
}
