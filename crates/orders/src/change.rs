//! Changes: values that contain everything one commit writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    ApplicationId, CounterpartyId, DiscountId, Edit, InventoryId, Line, Money, Name, NomenclatureId, OrderId,
    PaymentTypeId, Phone, ProjectId, Quantity, ReservationId, Stamp, UserId, WarehouseId, Word as _,
};
use kontor_payments::model::{NewCharge, Receipt, RefundIntent, VatCode};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use crate::model::{
    Address, Delivery, DeliveryCharge, Notice, Order, OrderStatus, PaidEvent, PaymentMethod, PreparedPayment,
    PromoProblem, Transition,
};
use crate::placement::{ContactTerms, Unconfirmed};
use crate::pricing::{LinePrice, Pricing};
use crate::refund::{DecidedRefund, RefundRefused, receipt_of};
use crate::tickets::TicketReference;

/// Comment by staff: 1 to 65,535 characters.
pub type Comment = kontor_kernel::Prose;

/// Order line to store: units of one item from one stock level. A cart line from several warehouses becomes
/// several of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedLine {
    /// Index of the line in the cart, counted from 0.
    pub position: usize,
    /// Item.
    pub item: NomenclatureId,
    /// Name of the item when the order is placed.
    pub name: String,
    /// Stock level the units come from; `None` for a service.
    pub inventory: Option<InventoryId>,
    /// Number of units.
    pub quantity: Quantity,
    /// Price per unit. At the commit the stock level, or the item of a service, must still have this price.
    pub unit_price: Money,
    /// Price of the line.
    pub price: LinePrice,
    /// VAT; `None` if the project has no fiscal receipts.
    pub vat: Option<VatCode>,
    /// `true` if each unit is a ticket.
    pub is_ticket: bool,
}

/// Use of a promo code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromoUse {
    /// Discount of the code.
    pub discount_id: DiscountId,
    /// Promo code.
    pub code: String,
    /// Version of the discount that priced the cart; at the commit it must be the same.
    pub version: u64,
}

/// Automatic discounts that priced an order. At the commit, exactly these may apply to its items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppliedDiscounts {
    /// Version of every discount that may apply to the items.
    pub seen: BTreeMap<DiscountId, u64>,
    /// Discounts of these that cover a line.
    pub covering: BTreeSet<DiscountId>,
}

/// Person who orders without an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactPerson {
    /// Given name.
    pub first_name: Name,
    /// Family name.
    pub last_name: Name,
    /// Patronymic.
    pub middle_name: Option<Name>,
    /// Phone to call.
    pub phone: Phone,
}

impl ContactPerson {
    /// Full name, family name first.
    pub fn full_name(&self) -> String {
        let names = [Some(&self.last_name), Some(&self.first_name), self.middle_name.as_ref()];
        names.into_iter().flatten().map(|name| &**name).collect::<Vec<&str>>().join(" ")
    }
}

/// Customer of a new order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Orderer {
    /// Existing customer.
    Customer(CounterpartyId),
    /// Customer with this phone, created in the same commit if there is none. An existing customer is not
    /// changed, since the form proves no identity.
    Contact(ContactPerson),
}

impl Orderer {
    /// Returns the identifier of an existing customer.
    pub const fn known(&self) -> Option<CounterpartyId> {
        match self {
            Self::Customer(id) => Some(*id),
            Self::Contact(_) => None,
        }
    }
}

/// A whole order to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedOrder {
    /// Project.
    pub project_id: ProjectId,
    /// Application; `None` if staff order for the project.
    pub application_id: Option<ApplicationId>,
    /// Customer.
    pub orderer: Orderer,
    /// Author of the order.
    pub author: Author,
    /// Employee in charge.
    pub manager_id: Option<UserId>,
    /// Comment by staff.
    pub comment: Option<Comment>,
    /// [`OrderStatus::Created`], or [`OrderStatus::WaitingForPayment`] with a payment.
    pub status: OrderStatus,
    /// Lines.
    pub lines: Vec<PlacedLine>,
    /// Price before any discount.
    pub original_price: Money,
    /// Automatic discounts.
    pub product_discount: Money,
    /// Promo code discount.
    pub promo_discount: Money,
    /// Price of the lines.
    pub final_price: Money,
    /// Delivery price.
    pub delivery_charge: DeliveryCharge,
    /// Automatic discounts that priced the order.
    pub automatic: AppliedDiscounts,
    /// Use of the promo code.
    pub promo: Option<PromoUse>,
    /// Delivery.
    pub delivery: Delivery,
    /// Payment type on receipt.
    pub payment_type_id: Option<PaymentTypeId>,
    /// Phone of the customer's profile, or of the contact form.
    pub phone: Option<Phone>,
    /// Reference of its tickets; `None` without tickets.
    pub tickets: Option<TicketReference>,
    /// Terms of an order from the contact form, `None` for every other order.
    pub contact: Option<ContactTerms>,
    /// Payment to request after the commit.
    pub payment: Option<PreparedPayment>,
    /// Time of the order.
    pub at: DateTime<Utc>,
}

impl PlacedOrder {
    /// Returns the charge of this order if it is paid online.
    pub fn charge(&self, order_id: OrderId, counterparty_id: CounterpartyId) -> Option<NewCharge> {
        let payment = self.payment.as_ref()?;
        Some(NewCharge {
            project_id: self.project_id,
            application_id: self.application_id,
            counterparty_id,
            request: payment.request(order_id),
            next_check_at: payment.next_check_at,
            at: self.at,
        })
    }

    /// Stock and price that the order adds to the unconfirmed orders of its phone.
    pub fn unconfirmed(&self) -> Unconfirmed {
        Unconfirmed::of(self.lines.iter().map(|line| (line.inventory, line.quantity)), self.final_price)
    }

    /// Time at which the order is canceled unless it is confirmed before.
    pub fn reserved_until(&self) -> Option<DateTime<Utc>> {
        self.contact.map(|terms| terms.reserved_until(self.at))
    }

    /// Online payment method, if any.
    pub fn payment_method(&self) -> Option<PaymentMethod> {
        self.payment.as_ref().map(|payment| payment.method)
    }
}

/// Everything to write when an order changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderUpdate {
    /// Author and time.
    pub stamp: Stamp,
    /// Change of status.
    pub transition: Option<Transition>,
    /// Money that arrives with the change of status.
    pub captured: Option<Captured>,
    /// Record of a payment taken by an employee.
    pub by_hand: Option<ManualPayment>,
    /// Refund.
    pub refund: Option<OrderedRefund>,
    /// Employee in charge.
    pub manager: Edit<Option<UserId>>,
    /// Comment.
    pub comment: Edit<Option<Comment>>,
    /// Address of the handover.
    pub address: Edit<Option<Address>>,
    /// New lines and totals.
    pub rework: Option<LineChangeSet>,
    /// Payment to request after the commit. No other payment may be open.
    pub payment: Option<PreparedPayment>,
}

impl OrderUpdate {
    /// Creates an update that changes nothing yet.
    pub fn of(stamp: Stamp) -> Self {
        Self {
            stamp,
            transition: None,
            captured: None,
            by_hand: None,
            refund: None,
            manager: Edit::Keep,
            comment: Edit::Keep,
            address: Edit::Keep,
            rework: None,
            payment: None,
        }
    }
}

/// Order line after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLine {
    /// Identifier; `None` for a new line.
    pub id: Option<ReservationId>,
    /// Item.
    pub item: NomenclatureId,
    /// Name of the item when it was ordered.
    pub name: String,
    /// Stock level the units come from; `None` for a service.
    pub inventory: Option<InventoryId>,
    /// Warehouse of the stock level.
    pub warehouse: Option<WarehouseId>,
    /// Number of units.
    pub quantity: Quantity,
    /// Price per unit.
    pub unit_price: Money,
    /// Price of the line.
    pub price: LinePrice,
    /// VAT; `None` if the project has no fiscal receipts.
    pub vat: Option<VatCode>,
    /// `true` if each unit is a ticket.
    pub is_ticket: bool,
    /// `true` if the line must be written.
    pub is_changed: bool,
}

impl ChangedLine {
    /// Converts to a line to store, with this index among the new lines.
    pub fn placed(&self, position: usize) -> PlacedLine {
        PlacedLine {
            position,
            item: self.item,
            name: self.name.clone(),
            inventory: self.inventory,
            quantity: self.quantity,
            unit_price: self.unit_price,
            price: self.price,
            vat: self.vat,
            is_ticket: self.is_ticket,
        }
    }
}

/// Change of the units that an order reserves of one stock level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockClaim {
    /// Stock level.
    pub inventory: InventoryId,
    /// Warehouse of the stock level.
    pub warehouse: Option<WarehouseId>,
    /// Item.
    pub item: NomenclatureId,
    /// Additional units; negative to release units, never 0.
    pub pieces: i64,
    /// Price that the stock level must still have; `None` when units are released.
    pub price: Option<Money>,
}

/// Effect of a change on the promo code of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromoEffect {
    /// The order has no promo code.
    None,
    /// It still applies, possibly with another amount.
    Keep(PromoUse),
    /// It no longer applies; its use is returned.
    Return(PromoProblem),
}

/// New lines of an unpaid order, with all consequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChangeSet {
    /// All lines, new ones last.
    pub lines: Vec<ChangedLine>,
    /// Lines to delete.
    pub removed: Vec<ReservationId>,
    /// Changes of reserved stock, by ascending stock level id.
    pub claims: Vec<StockClaim>,
    /// Services with added units, with the prices their items must still have.
    pub services: Vec<(NomenclatureId, Money)>,
    /// Totals of the order.
    pub totals: Totals,
    /// Items for which discounts were read.
    pub items: Vec<NomenclatureId>,
    /// Automatic discounts.
    pub automatic: AppliedDiscounts,
    /// Effect on the promo code.
    pub promo: PromoEffect,
    /// Reference for tickets among new lines, unless the order has one already.
    pub tickets: Option<TicketReference>,
}

/// Totals of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Price before any discount.
    pub original_price: Money,
    /// Automatic discounts.
    pub product_discount: Money,
    /// Promo code discount.
    pub promo_discount: Money,
    /// Price of the lines.
    pub final_price: Money,
    /// Delivery price.
    pub delivery_price: Money,
}

impl Totals {
    /// Computes the totals of priced lines and a delivery.
    pub fn new(pricing: &Pricing, delivery_price: Money) -> Self {
        Self {
            delivery_price,
            original_price: pricing.original_price(),
            product_discount: pricing.product_discount(),
            promo_discount: pricing.promo_discount(),
            final_price: pricing.final_price(),
        }
    }

    /// Amount the customer pays: the lines and the delivery.
    pub fn amount_due(&self) -> Money {
        self.final_price.checked_add(self.delivery_price).unwrap_or(Money::MAX)
    }
}

impl From<&Order> for Totals {
    fn from(order: &Order) -> Self {
        Self {
            original_price: order.original_price,
            product_discount: order.product_discount,
            promo_discount: order.promo_discount,
            final_price: order.final_price,
            delivery_price: order.delivery_charge.price,
        }
    }
}

/// Money that arrives with a change of status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Amount.
    pub amount: Money,
    /// Event for the outbox; `None` for an order without application, which has no webhooks.
    pub event: Option<PaidEvent>,
}

/// Method of a payment taken by an employee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ManualPaymentMethod {
    /// Cash.
    Cash,
    /// Card, at a terminal that is not connected to the service.
    Terminal,
}

/// Payment taken by an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualPayment {
    /// Method.
    pub method: ManualPaymentMethod,
    /// Number of the receipt that the cash register printed.
    pub receipt: Option<Line<100>>,
}

impl fmt::Display for ManualPayment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method.word())?;
        self.receipt.as_ref().map_or(Ok(()), |receipt| write!(f, ", receipt {receipt}"))
    }
}

/// Refund to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedRefund {
    /// Idempotency key of the refund.
    pub key: Uuid,
    /// Amount and lines of the refund.
    pub decided: DecidedRefund,
    /// Reason.
    pub reason: String,
    /// `true` if the goods return to their warehouses.
    pub restock: bool,
    /// `true` if the subscription period that the order paid ends with the refund.
    pub ends_period: bool,
}

impl OrderedRefund {
    /// Notice to the customer about a new refund: requested at the acquirer, or made already. `None` if no money is
    /// refunded.
    pub fn notice(&self, is_requested: bool) -> Option<Notice> {
        let notice = if is_requested { Notice::OrderRefundRequested } else { Notice::OrderRefunded };
        (!self.decided.amount.is_zero()).then_some(notice)
    }

    /// Refund request for the acquirer; `None` if no money is refunded.
    pub fn intent(&self, order: OrderId) -> Option<RefundIntent> {
        RefundIntent::new(self.key, self.decided.amount, format!("Refund of order {order}")).ok()
    }

    /// The same with the receipt of the refund, if the payment had the receipt `paid`.
    pub fn request(&self, order: &Order, paid: Option<&Receipt>) -> Result<Option<RefundIntent>, RefundRefused> {
        let (Some(intent), Some(paid)) = (self.intent(order.id), paid) else { return Ok(self.intent(order.id)) };
        let receipt = receipt_of(order, &self.decided, paid).map_err(RefundRefused::NoReceipt)?;
        let Some(receipt) = receipt else { return Ok(Some(intent)) };
        intent.with_receipt(receipt).map(Some).map_err(RefundRefused::NoReceipt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(minor: i64) -> Money {
        Money::from_minor(minor).unwrap()
    }

    fn person(middle_name: Option<&str>) -> ContactPerson {
        let name = |text: &str| Name::parse(text).unwrap();
        let phone = Phone::parse("79001234567").unwrap();
        ContactPerson {
            first_name: name("Anna"),
            last_name: name("Karenina"),
            middle_name: middle_name.map(name),
            phone,
        }
    }

    fn placed() -> PlacedOrder {
        PlacedOrder { orderer: Orderer::Contact(person(None)), ..crate::model::testing::a_placed_order() }
    }

    #[test]
    fn an_order_that_is_paid_online_has_a_charge_of_its_payment() {
        let (order, customer) = (OrderId::new(7).unwrap(), CounterpartyId::new(4).unwrap());
        assert_eq!((placed().charge(order, customer), placed().payment_method()), (None, None));
        let next_check_at = DateTime::UNIX_EPOCH + chrono::TimeDelta::minutes(1);
        let payment =
            PreparedPayment { key: Uuid::from_u128(5), next_check_at, ..crate::model::testing::a_payment(money(450)) };
        let online = PlacedOrder { payment: Some(payment.clone()), ..placed() };
        assert_eq!(online.payment_method(), Some(PaymentMethod::Sbp));
        let expected = NewCharge {
            project_id: online.project_id,
            application_id: online.application_id,
            counterparty_id: customer,
            request: payment.request(order),
            next_check_at: payment.next_check_at,
            at: online.at,
        };
        assert_eq!(online.charge(order, customer), Some(expected));
    }

    #[test]
    fn people_are_called_by_all_their_names() {
        assert_eq!(person(None).full_name(), "Karenina Anna");
        assert_eq!(person(Some("Arkadyevna")).full_name(), "Karenina Anna Arkadyevna");
        let customer = CounterpartyId::new(4).unwrap();
        assert_eq!(Orderer::Customer(customer).known(), Some(customer));
        assert_eq!(Orderer::Contact(person(None)).known(), None);
    }

    #[test]
    fn totals_of_an_order_are_shown_exactly() {
        let order = crate::model::testing::an_order(OrderStatus::Created);
        let expected = Totals {
            original_price: money(500),
            product_discount: money(0),
            promo_discount: money(50),
            final_price: money(450),
            delivery_price: money(0),
        };
        assert_eq!(Totals::from(&order), expected);
        let line = LinePrice { original: money(500), product_discount: money(30), promo_discount: money(20) };
        let pricing = Pricing { lines: vec![line, line], applied: None, promo_problem: None };
        let expected = Totals {
            original_price: money(1_000),
            product_discount: money(60),
            promo_discount: money(40),
            final_price: money(900),
            delivery_price: money(70),
        };
        assert_eq!(Totals::new(&pricing, money(70)), expected);
        assert_eq!(expected.amount_due(), money(970));
        assert_eq!(pricing.total_discount(), money(100));
    }

    #[test]
    fn a_manual_payment_has_its_method_and_receipt() {
        let cash = ManualPayment { method: ManualPaymentMethod::Cash, receipt: None };
        assert_eq!(cash.to_string(), "cash");
        let terminal = ManualPayment { method: ManualPaymentMethod::Terminal, receipt: Line::parse("№ 7").ok() };
        assert_eq!(terminal.to_string(), "terminal, receipt № 7");
    }

    #[test]
    fn a_refund_is_of_the_order_under_its_key() {
        let decided = DecidedRefund { amount: money(100), delivery: money(100), lines: vec![], transition: None };
        let refund = OrderedRefund {
            key: Uuid::from_u128(5),
            decided,
            reason: "late".to_owned(),
            restock: true,
            ends_period: false,
        };
        let expected = RefundIntent::new(Uuid::from_u128(5), money(100), "Refund of order 7".to_owned()).ok();
        assert_eq!(refund.intent(OrderId::new(7).unwrap()), expected);
        assert_eq!(refund.notice(true), Some(Notice::OrderRefundRequested));
        assert_eq!(refund.notice(false), Some(Notice::OrderRefunded));
        let decided = DecidedRefund { amount: Money::ZERO, ..refund.decided.clone() };
        let nothing = OrderedRefund { decided, ..refund };
        assert_eq!((nothing.intent(OrderId::new(7).unwrap()), nothing.notice(true)), (None, None));
    }
}
