//! Sample orders for tests of rules.

use chrono::DateTime;
use kontor_kernel::{
    ApplicationId, CounterpartyId, DeliveryTypeId, InventoryId, Money, NomenclatureId, OrderId, Quantity,
    ReservationId, WarehouseId,
};
use uuid::Uuid;

use crate::tickets::Tickets;

use super::{
    Customer, DeliveryCharge, DeliveryOptionRef, Named, Order, OrderLine, OrderStatus, PaymentMethod, PreparedPayment,
    ReservationState,
};

/// An order of 4.50 in this state, without lines.
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

/// One reserved unit for this price.
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

/// A payment of this amount by SBP, without a receipt.
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
