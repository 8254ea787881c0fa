//! Sample orders for tests of rules.
//!
//! Set further fields with struct update syntax:
//! ```
//! use kontor_orders::model::{Order, OrderStatus, PaymentState};
//! use kontor_orders::testing::samples::{a_line, order_of};
//!
//! let paid = order_of(OrderStatus::Paid, vec![a_line(26_500), a_line(10_000)]);
//! assert_eq!(paid.amount_due().to_string(), "365.00");
//! let partly = Order { refunded: "65.00".parse()?, ..paid };
//! assert_eq!(partly.payment_state(), PaymentState::PartiallyRefunded);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "constant identifiers")]

use chrono::DateTime;
use kontor_kernel::history::Author;
use kontor_kernel::{
    ApplicationId, CounterpartyId, DeliveryTypeId, DiscountId, InventoryId, Money, NomenclatureId, OrderId, ProjectId,
    Quantity, ReservationId, WarehouseId,
};
use uuid::Uuid;

use crate::change::{AppliedDiscounts, Orderer, PlacedOrder};
use crate::model::{
    Customer, Delivery, DeliveryCharge, DeliveryOptionRef, Discount, DiscountStatus, DiscountTarget, DiscountValue,
    Named, Order, OrderLine, OrderStatus, PaymentMethod, PreparedPayment, ReservationState,
};
use crate::placement::{ItemKind, OfferedItem, Packaging, WarehouseStock};
use crate::tickets::Tickets;

/// Returns order 7 of 4.50 in this state, without lines: after a promo code of 0.50, of customer 4 in application 3. A
/// paid order has all of its money.
pub fn an_order(status: OrderStatus) -> Order {
    let money = |minor| Money::from_minor(minor).unwrap();
    Order {
        id: OrderId::new(7).unwrap(),
        application: Some(Named { id: ApplicationId::new(3).unwrap(), name: "Shop".to_owned() }),
        customer: Customer { id: CounterpartyId::new(4).unwrap(), name: String::new(), phone: None },
        manager: None,
        status,
        status_name: String::new(),
        currency: "RUB".to_owned(),
        original_price: money(500),
        product_discount: money(0),
        promo_discount: money(50),
        final_price: money(450),
        delivery_charge: DeliveryCharge::default(),
        promo_code: Some("SPRING".to_owned()),
        delivery_type: DeliveryOptionRef {
            id: DeliveryTypeId::new(1).unwrap(),
            name: String::new(),
            price: money(0),
            is_active: true,
        },
        delivery_subtype: None,
        delivery_subtype_param: None,
        shop: None,
        address: None,
        payment_type: None,
        payment_method: None,
        payment_link: None,
        comment: None,
        reserved_until: None,
        lines: Vec::new(),
        payment_open: false,
        is_recurring: false,
        paid_at: (status == OrderStatus::Paid).then_some(DateTime::UNIX_EPOCH),
        captured: if status == OrderStatus::Paid { money(450) } else { money(0) },
        refunded: money(0),
        refunding: money(0),
        refunds: Vec::new(),
        tickets: Tickets::default(),
        version: 5,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

/// Returns an order in this state with these lines and without discounts. The lines are numbered from 1. A paid order
/// has all of its money.
///
/// ```
/// use kontor_orders::model::OrderStatus;
/// use kontor_orders::refund::remaining_refund;
/// use kontor_orders::testing::samples::{a_line, order_of};
///
/// let paid = order_of(OrderStatus::Paid, vec![a_line(26_500)]);
/// let refund = remaining_refund(&paid)?.ok_or("nothing is left")?;
/// assert_eq!(refund.amount, paid.captured);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn order_of(status: OrderStatus, lines: Vec<OrderLine>) -> Order {
    let sum = lines.iter().map(|line| line.total.minor()).sum();
    let price = Money::from_minor(sum).unwrap();
    let numbered = (1..).zip(lines).map(|(number, line)| OrderLine { id: ReservationId::new(number).unwrap(), ..line });
    Order {
        lines: numbered.collect(),
        original_price: price,
        promo_discount: Money::ZERO,
        promo_code: None,
        final_price: price,
        captured: if status == OrderStatus::Paid { price } else { Money::ZERO },
        ..an_order(status)
    }
}

/// Returns line 1: one reserved unit of item 1 for this price in minor units.
pub fn a_line(minor: i64) -> OrderLine {
    let price = Money::from_minor(minor).unwrap();
    OrderLine {
        id: ReservationId::new(1).unwrap(),
        item: Named { id: NomenclatureId::new(1).unwrap(), name: String::new() },
        article: None,
        photos: Vec::new(),
        warehouse: Some(Named { id: WarehouseId::new(1).unwrap(), name: String::new() }),
        inventory: InventoryId::new(1).ok(),
        quantity: Quantity::ONE,
        unit_price: price,
        product_discount: Money::ZERO,
        promo_discount: Money::ZERO,
        total: price,
        vat: None,
        is_ticket: false,
        refunded_quantity: 0,
        refunded_amount: Money::ZERO,
        state: ReservationState::Held,
    }
}

/// Returns a payment of this amount by SBP, without a receipt.
pub fn a_payment(amount: Money) -> PreparedPayment {
    PreparedPayment {
        key: Uuid::nil(),
        amount,
        currency: "RUB".to_owned(),
        method: PaymentMethod::Sbp,
        return_url: "https://shop.example".to_owned(),
        next_check_at: DateTime::UNIX_EPOCH,
        receipt: None,
    }
}

/// Returns an order of 4.50 to store, of customer 4 in application 3, without lines and discounts.
pub fn a_placed_order() -> PlacedOrder {
    let price = Money::from_minor(450).unwrap();
    PlacedOrder {
        project_id: ProjectId::new(1).unwrap(),
        application_id: ApplicationId::new(3).ok(),
        orderer: Orderer::Customer(CounterpartyId::new(4).unwrap()),
        author: Author::System,
        manager_id: None,
        comment: None,
        status: OrderStatus::Created,
        lines: Vec::new(),
        original_price: price,
        product_discount: Money::ZERO,
        promo_discount: Money::ZERO,
        final_price: price,
        delivery_charge: DeliveryCharge::default(),
        automatic: AppliedDiscounts::default(),
        promo: None,
        delivery: Delivery {
            type_id: DeliveryTypeId::new(1).unwrap(),
            subtype_id: None,
            subtype_param_id: None,
            shop_id: None,
            address: None,
        },
        payment_type_id: None,
        phone: None,
        tickets: None,
        contact: None,
        payment: None,
        at: DateTime::UNIX_EPOCH,
    }
}

/// Returns active discount 1 without limits and without a code.
///
/// ```
/// use kontor_orders::model::{Discount, DiscountTarget, DiscountValue};
/// use kontor_orders::testing::samples::a_discount;
///
/// let sale = a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart);
/// let spring = Discount { code: Some("SPRING".to_owned()), usage_limit: Some(100), ..sale };
/// assert_eq!(spring.used_count, 0);
/// ```
pub fn a_discount(value: DiscountValue, target: DiscountTarget) -> Discount {
    Discount {
        id: DiscountId::new(1).unwrap(),
        name: "Sale".to_owned(),
        code: None,
        value,
        target,
        minimum_sum: Money::ZERO,
        starts_at: None,
        ends_at: None,
        usage_limit: None,
        customer_limit: None,
        used_count: 0,
        status: DiscountStatus::Active,
        version: 1,
    }
}

/// Returns goods that are sold one by one from these places.
pub fn goods(number: i64, places: Vec<WarehouseStock>) -> OfferedItem {
    OfferedItem {
        id: NomenclatureId::new(number).unwrap(),
        name: format!("Item {number}"),
        categories: Vec::new(),
        kind: ItemKind::Goods { places },
        packaging: Packaging { wholesale: false, pieces_per_pack: 1 },
        vat: None,
        is_ticket: false,
    }
}

/// Returns the stock level with this number, in the warehouse with the same number.
pub fn stock(number: i64, minor: i64, available: u32) -> WarehouseStock {
    WarehouseStock {
        inventory: InventoryId::new(number).unwrap(),
        warehouse: WarehouseId::new(number).unwrap(),
        price: Money::from_minor(minor).unwrap(),
        available,
    }
}
