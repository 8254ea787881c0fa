//! One price function: pricing a cart, ordering it, changing an order into it and previewing give the same
//! price.

use chrono::DateTime;
use kontor_kernel::history::Author;
use kontor_kernel::{
    AppScope, ApplicationId, CategoryId, CounterpartyId, DeliveryTypeId, DiscountId, DiscountStatus, DiscountTarget,
    DiscountValue, InventoryId, ProjectId, ShopId, WarehouseId,
};
use uuid::Uuid;

use super::*;
use crate::change::{PlacedOrder, PromoEffect, Totals};
use crate::model::testing::{a_discount, a_line, an_order};
use crate::model::{
    Cart, CartLine, DeliveryRequest, Discount, Named, OrderLine, Promo, PromoCode, References, ShopReference,
    TypeReference,
};
use crate::placement::{
    Buyer, CartSnapshot, FewestWarehouses, ItemKind, OfferedItem, OrderCommand, OrderContext, Packaging,
    WarehouseStock, place_purely,
};
use crate::pricing::{PriceLine, price};

/// Number of carts to try.
const CARTS: u64 = 100_000;

/// Pseudorandom numbers that are the same in every run (`SplitMix64`).
struct TestRng(u64);

impl TestRng {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % sides
    }

    fn number(&mut self, from: i64, to: i64) -> i64 {
        from + i64::try_from(self.roll(u64::try_from(to - from + 1).unwrap())).unwrap()
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.roll(times) == 0
    }
}

fn id<T: TryFrom<i64, Error: std::fmt::Debug>>(number: i64) -> T {
    number.try_into().unwrap()
}

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn pieces(count: i64) -> Quantity {
    Quantity::new(count).unwrap()
}

/// A shop of four items: goods in up to three warehouses, with possibly different prices, and services.
fn shop(rng: &mut TestRng) -> CartSnapshot {
    let items = (1..=4).map(|number| {
        let unit = rng.number(0, 30_000);
        let place = |nth: i64, rng: &mut TestRng| WarehouseStock {
            inventory: InventoryId::new(number * 10 + nth).unwrap(),
            warehouse: WarehouseId::new(nth).unwrap(),
            price: money(if rng.one_in(3) { rng.number(0, 30_000) } else { unit }),
            available: u32::try_from(rng.number(0, 9)).unwrap(),
        };
        let kind = if rng.one_in(5) {
            ItemKind::Service { price: money(unit) }
        } else {
            let places = rng.number(0, 3);
            ItemKind::Goods { places: (1..=places).map(|nth| place(nth, rng)).collect() }
        };
        let categories = (1..=rng.number(0, 2)).map(id::<CategoryId>).collect();
        let packaging = Packaging { wholesale: false, pieces_per_pack: 1 };
        OfferedItem {
            id: id(number),
            name: format!("Item {number}"),
            categories,
            kind,
            packaging,
            vat: None,
            is_ticket: false,
        }
    });
    let items: Vec<OfferedItem> = items.collect();
    let automatic = (1..=rng.number(0, 3)).map(|number| discount(rng, number, None)).collect();
    let promo = (!rng.one_in(3)).then(|| {
        let discount = (!rng.one_in(9)).then(|| discount(rng, 9, Some("SPRING".to_owned())));
        Promo { discount, used_by_customer: rng.roll(2) }
    });
    let references = References {
        delivery_type: Some(TypeReference {
            price: Money::from_minor(rng.number(0, 500)).unwrap(),
            is_active: true,
            ..TypeReference::default()
        }),
        shop: Some(ShopReference { is_active: true, address: "Square 1".to_owned() }),
        ..References::default()
    };
    CartSnapshot {
        currency: "RUB".to_owned(),
        items,
        automatic,
        promo,
        references,
        charges_delivery: rng.one_in(2),
        ..CartSnapshot::default()
    }
}

fn discount(rng: &mut TestRng, number: i64, code: Option<String>) -> Discount {
    let value = if rng.one_in(2) {
        DiscountValue::Percent(u16::try_from(rng.number(1, 10_000)).unwrap())
    } else {
        DiscountValue::Fixed(money(rng.number(1, 20_000)))
    };
    let target = match rng.roll(3) {
        0 => DiscountTarget::Cart,
        1 => DiscountTarget::Category(id(rng.number(1, 2))),
        _ => DiscountTarget::Product(id(rng.number(1, 4))),
    };
    Discount {
        id: DiscountId::new(number).unwrap(),
        usage_limit: code.as_ref().and_then(|_| rng.one_in(3).then(|| 1 + rng.roll(2))),
        code,
        minimum_sum: money(if rng.one_in(2) { 0 } else { rng.number(0, 60_000) }),
        used_count: rng.roll(2),
        status: if rng.one_in(8) { DiscountStatus::Paused } else { DiscountStatus::Active },
        ..a_discount(value, target)
    }
}

fn random_cart(rng: &mut TestRng) -> Cart {
    let first = rng.number(1, 4);
    let lines = (0..rng.number(1, 3))
        .map(|nth| CartLine { item: id((first + nth - 1) % 4 + 1), quantity: pieces(rng.number(1, 9)) });
    Cart::new(lines.collect()).unwrap()
}

fn placed(snapshot: &CartSnapshot, cart: &Cart) -> Option<PlacedOrder> {
    let app = AppScope { project_id: id::<ProjectId>(1), application_id: id::<ApplicationId>(3), wholesale: false };
    let buyer = Buyer {
        point: app.into(),
        orderer: crate::change::Orderer::Customer(id::<CounterpartyId>(4)),
        author: Author::System,
        manager_id: None,
        comment: None,
    };
    let context = OrderContext {
        buyer: &buyer,
        key: Uuid::nil(),
        return_url: "https://shop.example",
        allocation: &FewestWarehouses,
        at: DateTime::UNIX_EPOCH,
        tickets: None,
    };
    let delivery = DeliveryRequest {
        type_id: id::<DeliveryTypeId>(1),
        subtype_id: None,
        subtype_param_id: None,
        shop_id: ShopId::new(1).ok(),
        address: None,
        payment_type_id: None,
    };
    let promo_code = snapshot.promo.as_ref().map(|_| PromoCode::parse("SPRING").unwrap());
    let command = OrderCommand { cart: cart.clone(), promo_code, delivery, payment_method: None };
    place_purely(snapshot, &command, &context).ok()
}

/// The order as read after it was placed.
fn stored(placed: &PlacedOrder) -> Order {
    let lines = (1..).zip(&placed.lines).map(|(number, line)| OrderLine {
        id: ReservationId::new(number).unwrap(),
        item: Named { id: line.item, name: line.name.clone() },
        warehouse: line.inventory.map(|stock| Named { id: id(stock.get() % 10), name: String::new() }),
        inventory: line.inventory,
        quantity: line.quantity,
        unit_price: line.unit_price,
        product_discount: line.price.product_discount,
        promo_discount: line.price.promo_discount,
        total: line.price.total(),
        ..a_line(0)
    });
    Order {
        lines: lines.collect(),
        original_price: placed.original_price,
        product_discount: placed.product_discount,
        promo_discount: placed.promo_discount,
        final_price: placed.final_price,
        delivery_charge: placed.delivery_charge,
        promo_code: placed.promo.as_ref().map(|promo| promo.code.clone()),
        ..an_order(OrderStatus::Created)
    }
}

/// Snapshot after the order was placed: its units are reserved, its promo code has one more use.
fn after(snapshot: &CartSnapshot, order: &Order) -> CartSnapshot {
    let mut after = snapshot.clone();
    for line in &order.lines {
        let stock = after.items.iter_mut().filter(|item| item.id == line.item.id);
        for place in stock.flat_map(|item| match &mut item.kind {
            ItemKind::Goods { places } => places.as_mut_slice(),
            ItemKind::Service { .. } => &mut [],
        }) {
            if Some(place.inventory) == line.inventory {
                place.available -= line.quantity.get();
            }
        }
    }
    match (&order.promo_code, &mut after.promo) {
        (Some(_), Some(promo)) => {
            promo.used_by_customer += 1;
            if let Some(discount) = &mut promo.discount {
                discount.used_count += 1;
            }
        }
        _ => after.promo = None,
    }
    after
}

fn random_edit(rng: &mut TestRng, order: &Order) -> LineEdit {
    let line = usize::try_from(rng.roll(u64::try_from(order.lines.len()).unwrap())).unwrap();
    let line = order.lines[line].id;
    let price = |rng: &mut TestRng| rng.one_in(5).then(|| money(rng.number(0, 30_000)));
    match rng.roll(4) {
        0 => LineEdit::Add { item: id(rng.number(1, 4)), quantity: pieces(rng.number(1, 6)), price: price(rng) },
        1 => LineEdit::Remove { line },
        _ => LineEdit::Set { line, quantity: Some(pieces(rng.number(1, 9))), price: price(rng) },
    }
}

fn terms(items: &[NomenclatureId]) -> Terms<'_> {
    let (key, return_url, at) = (Uuid::nil(), "https://shop.example", DateTime::UNIX_EPOCH);
    Terms { items, allocation: &FewestWarehouses, key, return_url, at }
}

/// Available units of a stock level.
fn free(snapshot: &CartSnapshot, inventory: InventoryId) -> i64 {
    let places = snapshot.items.iter().flat_map(|item| match &item.kind {
        ItemKind::Goods { places } => places.as_slice(),
        ItemKind::Service { .. } => &[],
    });
    places.filter(|place| place.inventory == inventory).map(|place| i64::from(place.available)).sum()
}

/// Totals of changed lines by the price function alone.
fn priced_anew(snapshot: &CartSnapshot, order: &Order, rework: &crate::change::LineChangeSet) -> Totals {
    let lines: Vec<PriceLine> = rework
        .lines
        .iter()
        .map(|line| PriceLine {
            item: line.item,
            categories: snapshot.items.iter().find(|item| item.id == line.item).unwrap().categories.clone(),
            quantity: line.quantity,
            unit_price: line.unit_price,
        })
        .collect();
    let promo = order.promo_code.as_ref().and(snapshot.promo.clone()).map(|mut promo| {
        promo.used_by_customer -= 1;
        if let Some(discount) = &mut promo.discount {
            discount.used_count -= 1;
        }
        promo
    });
    let pricing = price(&lines, &snapshot.automatic, promo.as_ref(), DateTime::UNIX_EPOCH).unwrap();
    Totals::new(&pricing, order.delivery_charge.price)
}

fn check_change(rng: &mut TestRng, snapshot: &CartSnapshot, order: &Order) -> bool {
    let items: Vec<NomenclatureId> = snapshot.items.iter().map(|item| item.id).collect();
    let command = LineCommand { edit: random_edit(rng, order), restock: None, reason: None };
    let Ok(decided) = decide(order, snapshot, &command, &terms(&items)) else { return false };
    let preview = OrderPreview::of(order, &decided);
    let Some(rework) = &decided.rework else {
        assert_eq!((preview.totals, preview.difference), (Totals::from(order), 0));
        return false;
    };
    assert_eq!(rework.totals, priced_anew(snapshot, order, rework), "{command:?}");
    let sum = |part: fn(&crate::change::ChangedLine) -> i64| rework.lines.iter().map(part).sum::<i64>();
    assert_eq!(rework.totals.final_price.minor(), sum(|line| line.price.total().minor()));
    assert_eq!(rework.totals.original_price.minor(), sum(|line| line.price.original.minor()));
    assert_eq!(preview.totals, rework.totals);
    assert_eq!(preview.difference, rework.totals.final_price.minor() - order.final_price.minor());
    // Claims equal the difference of the lines per stock level, and never exceed the available units.
    for line in &rework.lines {
        let Some(inventory) = line.inventory else { continue };
        let now: i64 = rework
            .lines
            .iter()
            .filter(|line| line.inventory == Some(inventory))
            .map(|line| i64::from(line.quantity.get()))
            .sum();
        let before: i64 = order
            .lines
            .iter()
            .filter(|line| line.inventory == Some(inventory))
            .map(|line| i64::from(line.quantity.get()))
            .sum();
        let claimed: i64 =
            rework.claims.iter().filter(|claim| claim.inventory == inventory).map(|claim| claim.pieces).sum();
        assert_eq!(claimed, now - before, "{command:?}");
        assert!(claimed <= free(snapshot, inventory), "{command:?}");
    }
    if let LineEdit::Set { line, quantity: Some(wanted), .. } = command.edit {
        let of = order.lines.iter().find(|known| known.id == line).unwrap();
        let other: u32 = order
            .lines
            .iter()
            .filter(|known| known.item.id == of.item.id && known.id != line)
            .map(|line| line.quantity.get())
            .sum();
        let now: u32 = rework.lines.iter().filter(|line| line.item == of.item.id).map(|line| line.quantity.get()).sum();
        assert_eq!(now, other + wanted.get());
    }
    true
}

/// Changing an order into a cart costs the same as ordering that cart, if its units come from the same stock
/// levels.
fn check_against_new_order(snapshot: &CartSnapshot, order: &Order, cart: &Cart, rng: &mut TestRng) -> bool {
    let place = usize::try_from(rng.roll(u64::try_from(cart.lines().len()).unwrap())).unwrap();
    let (of, wanted) = (cart.lines()[place].item, pieces(rng.number(1, 9)));
    let mut known = order.lines.iter().filter(|line| line.item.id == of);
    let (Some(line), None) = (known.next(), known.next()) else { return false };
    let mut lines = cart.lines().to_vec();
    lines[place].quantity = wanted;
    let items: Vec<NomenclatureId> = snapshot.items.iter().map(|item| item.id).collect();
    let edit = LineEdit::Set { line: line.id, quantity: Some(wanted), price: None };
    let command = LineCommand { edit, restock: None, reason: None };
    let changed = decide(order, &after(snapshot, order), &command, &terms(&items));
    let mut without_code = snapshot.clone();
    if order.promo_code.is_none() {
        without_code.promo = None;
    }
    let view = without_code.view(&Cart::new(lines.clone()).unwrap(), &FewestWarehouses, DateTime::UNIX_EPOCH);
    let (Ok(changed), Ok(view)) = (changed, view) else { return false };
    let Some(rework) = changed.rework else { return false };
    let new = placed(&without_code, &Cart::new(lines).unwrap());
    let same_places = |new: &PlacedOrder| {
        let of_new: Vec<_> = new.lines.iter().map(|line| (line.inventory, line.quantity, line.unit_price)).collect();
        let of_change: Vec<_> =
            rework.lines.iter().map(|line| (line.inventory, line.quantity, line.unit_price)).collect();
        of_new == of_change
    };
    match new {
        Some(new) if same_places(&new) => {
            assert_eq!(rework.totals, Totals::new(&view.pricing, order.delivery_charge.price));
            let totals = Totals {
                original_price: new.original_price,
                product_discount: new.product_discount,
                promo_discount: new.promo_discount,
                final_price: new.final_price,
                delivery_price: new.delivery_charge.price,
            };
            assert_eq!(rework.totals, totals);
            let (ours, theirs): (Vec<_>, Vec<_>) =
                rework.lines.iter().zip(&new.lines).map(|(ours, theirs)| (ours.price, theirs.price)).unzip();
            assert_eq!(ours, theirs);
            true
        }
        // A promo code that no longer applies refuses a new order, and is only dropped from an existing one.
        None if view
            .pricing
            .lines
            .iter()
            .map(|line| line.original)
            .eq(rework.lines.iter().map(|line| line.price.original)) =>
        {
            assert!(matches!(rework.promo, PromoEffect::Return(_)));
            assert_eq!(rework.totals, Totals::new(&view.pricing, order.delivery_charge.price));
            true
        }
        _ => false,
    }
}

#[test]
fn looking_ordering_changing_and_previewing_cost_the_same() {
    let mut rng = TestRng(12);
    let (mut orders, mut changes, mut compared) = (0, 0, 0);
    for _ in 0..CARTS {
        let snapshot = shop(&mut rng);
        let cart = random_cart(&mut rng);
        let view = snapshot.view(&cart, &FewestWarehouses, DateTime::UNIX_EPOCH);
        let Some(placed) = placed(&snapshot, &cart) else {
            // A cart that cannot be ordered is refused by pricing, or its promo code is.
            assert!(view.is_err() || view.is_ok_and(|view| view.pricing.promo_problem.is_some()));
            continue;
        };
        orders += 1;
        let view = view.unwrap();
        assert_eq!(view.pricing.final_price(), placed.final_price);
        assert_eq!(view.pricing.lines, placed.lines.iter().map(|line| line.price).collect::<Vec<_>>());
        let order = stored(&placed);
        changes += u32::from(check_change(&mut rng, &after(&snapshot, &order), &order));
        compared += u32::from(check_against_new_order(&snapshot, &order, &cart, &mut rng));
    }
    assert!(orders > 25_000 && changes > 15_000 && compared > 15_000, "{orders} {changes} {compared}");
}
