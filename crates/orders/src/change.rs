//! Changes: values that name everything one commit writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    ApplicationId, CounterpartyId, DiscountId, Edit, InventoryId, Line, Money, Name, NomenclatureId, OrderId,
    PaymentTypeId, Phone, ProjectId, Quantity, ReservationId, Stamp, UserId, WarehouseId, Word as _,
};
use kontor_payments::model::{NewCharge, RefundIntent, VatCode};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use crate::model::{
    Address, Delivery, DeliveryCharge, Order, OrderStatus, PaidEvent, PaymentMethod, PreparedPayment, PromoProblem,
    Transition,
};
use crate::placement::{ContactTerms, Unconfirmed};
use crate::pricing::{LinePrice, Pricing};
use crate::refund::DecidedRefund;
use crate::tickets::TicketReference;

/// A remark of the staff: 1 to 65,535 characters.
pub type Comment = kontor_kernel::Prose;

/// A line of an order to be stored: pieces of one item from one place. A line of the cart that comes from several
/// warehouses is several of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedLine {
    /// The place of the line in the cart, counted from 0.
    pub position: usize,
    /// The item.
    pub item: NomenclatureId,
    /// Its name at this moment.
    pub name: String,
    /// The stock it is taken from; `None` for a service.
    pub inventory: Option<InventoryId>,
    /// How many pieces.
    pub quantity: Quantity,
    /// What one piece costs. The stock, or the card of a service, must still have this price.
    pub unit_price: Money,
    /// What the line costs.
    pub price: LinePrice,
    /// Its VAT; `None` when the project has no receipts made.
    pub vat: Option<VatCode>,
    /// Whether its pieces are tickets.
    pub is_ticket: bool,
}

/// The use of a promo code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromoUse {
    /// The discount.
    pub discount_id: DiscountId,
    /// The code.
    pub code: String,
    /// The version by which the cart was priced; it must still be the same.
    pub version: u64,
}

/// The automatic discounts by which an order was priced. When the order is stored, these and no others may concern its
/// items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppliedDiscounts {
    /// Every one that may concern the items, with its version.
    pub seen: BTreeMap<DiscountId, u64>,
    /// Of these, the ones that cover a line.
    pub covering: BTreeSet<DiscountId>,
}

/// Who orders without having signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactPerson {
    /// Given name.
    pub first_name: Name,
    /// Family name.
    pub last_name: Name,
    /// Patronymic.
    pub middle_name: Option<Name>,
    /// Where they are called.
    pub phone: Phone,
}

impl ContactPerson {
    /// The whole name, family name first.
    pub fn full_name(&self) -> String {
        let names = [Some(&self.last_name), Some(&self.first_name), self.middle_name.as_ref()];
        names.into_iter().flatten().map(|name| &**name).collect::<Vec<&str>>().join(" ")
    }
}

/// Whom an order is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Orderer {
    /// A customer that is known.
    Customer(CounterpartyId),
    /// The customer with this phone, who is made one in the same commit if there is none. Of one who is there already
    /// nothing is changed: whoever sent the form has not proved to be them.
    Contact(ContactPerson),
}

impl Orderer {
    /// The customer, where one is known by now.
    pub const fn known(&self) -> Option<CounterpartyId> {
        match self {
            Self::Customer(id) => Some(*id),
            Self::Contact(_) => None,
        }
    }
}

/// A whole order to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedOrder {
    /// The project.
    pub project_id: ProjectId,
    /// Where it is made; `None` when staff make it for the project.
    pub application_id: Option<ApplicationId>,
    /// Who gets it.
    pub orderer: Orderer,
    /// Who makes it.
    pub author: Author,
    /// Who takes care of it.
    pub manager_id: Option<UserId>,
    /// A remark of the staff.
    pub comment: Option<Comment>,
    /// [`OrderStatus::Created`], or [`OrderStatus::WaitingForPayment`] with a payment.
    pub status: OrderStatus,
    /// The lines.
    pub lines: Vec<PlacedLine>,
    /// Before any discount.
    pub original_price: Money,
    /// What automatic discounts take off.
    pub product_discount: Money,
    /// What the promo code takes off.
    pub promo_discount: Money,
    /// Price of the lines.
    pub final_price: Money,
    /// Delivery price.
    pub delivery_charge: DeliveryCharge,
    /// The automatic discounts.
    pub automatic: AppliedDiscounts,
    /// The promo code.
    pub promo: Option<PromoUse>,
    /// How the goods reach the customer.
    pub delivery: Delivery,
    /// How the customer pays on receipt.
    pub payment_type_id: Option<PaymentTypeId>,
    /// The phone of the profile.
    pub phone: Option<Phone>,
    /// By what its tickets are found; `None` when it has none.
    pub tickets: Option<TicketReference>,
    /// Terms of an order from the contact form, `None` for every other order.
    pub contact: Option<ContactTerms>,
    /// The payment to be asked for after the commit.
    pub payment: Option<PreparedPayment>,
    /// When.
    pub at: DateTime<Utc>,
}

impl PlacedOrder {
    /// The charge of this order, when it is paid online.
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

    /// What the order adds to the unconfirmed orders of its phone.
    pub fn unconfirmed(&self) -> Unconfirmed {
        Unconfirmed::of(self.lines.iter().map(|line| (line.inventory, line.quantity)), self.final_price)
    }

    /// The moment at which the order is canceled unless it is confirmed before.
    pub fn reserved_until(&self) -> Option<DateTime<Utc>> {
        self.contact.map(|terms| terms.reserved_until(self.at))
    }

    /// How the customer pays online.
    pub fn payment_method(&self) -> Option<PaymentMethod> {
        self.payment.as_ref().map(|payment| payment.method)
    }
}

/// All that is written when an order changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderUpdate {
    /// Who changes it, and when.
    pub stamp: Stamp,
    /// Where it moves.
    pub transition: Option<Transition>,
    /// What arrives with the move.
    pub captured: Option<Captured>,
    /// How the money that arrives was taken, where an employee took it by hand.
    pub by_hand: Option<PaymentByHand>,
    /// What goes back.
    pub refund: Option<OrderedRefund>,
    /// Who takes care of it.
    pub manager: Edit<Option<UserId>>,
    /// The remark.
    pub comment: Edit<Option<Comment>>,
    /// Where the goods are handed over.
    pub address: Edit<Option<Address>>,
    /// Its lines, as they are afterwards.
    pub rework: Option<Rework>,
    /// The payment to be asked for after the commit. No other may be open.
    pub payment: Option<PreparedPayment>,
}

impl OrderUpdate {
    /// One that changes nothing yet.
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

/// A line of an order as it is after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReworkedLine {
    /// Its number; `None` for a new one.
    pub id: Option<ReservationId>,
    /// The item.
    pub item: NomenclatureId,
    /// The name it had when it was ordered.
    pub name: String,
    /// The stock it is taken from; `None` for a service.
    pub inventory: Option<InventoryId>,
    /// Where that lies.
    pub warehouse: Option<WarehouseId>,
    /// How many pieces.
    pub quantity: Quantity,
    /// What one piece costs.
    pub unit_price: Money,
    /// What the line costs.
    pub price: LinePrice,
    /// Its VAT; `None` when the project has no receipts made.
    pub vat: Option<VatCode>,
    /// Whether its pieces are tickets.
    pub is_ticket: bool,
    /// Whether anything of it is to be written.
    pub is_changed: bool,
}

impl ReworkedLine {
    /// The same as a line to be stored, at this place among the new ones.
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

/// Pieces of one stock that an order reserves more, or fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockClaim {
    /// The stock.
    pub inventory: InventoryId,
    /// Where it lies.
    pub warehouse: Option<WarehouseId>,
    /// The item.
    pub item: NomenclatureId,
    /// How many more; fewer when negative, never 0.
    pub pieces: i64,
    /// What the stock must still ask for; `None` when pieces are given back.
    pub price: Option<Money>,
}

/// What a change does to the promo code of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromoEffect {
    /// It has none.
    None,
    /// It still counts, by another amount perhaps.
    Keep(PromoUse),
    /// It no longer counts, and its use is returned.
    Return(PromoProblem),
}

/// Other lines of an order that is not paid, with all that follows from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rework {
    /// All lines, new ones last.
    pub lines: Vec<ReworkedLine>,
    /// Lines that go.
    pub removed: Vec<ReservationId>,
    /// What changes of the stock, by ascending number.
    pub claims: Vec<StockClaim>,
    /// Services of which there are more, with the prices their cards must still have.
    pub services: Vec<(NomenclatureId, Money)>,
    /// What the order costs.
    pub totals: Totals,
    /// The items by which discounts were looked for.
    pub items: Vec<NomenclatureId>,
    /// The automatic discounts.
    pub automatic: AppliedDiscounts,
    /// The promo code.
    pub promo: PromoEffect,
    /// By what tickets among new lines are found, unless the order had tickets before.
    pub tickets: Option<TicketReference>,
}

/// What an order costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Before any discount.
    pub original_price: Money,
    /// What automatic discounts take off.
    pub product_discount: Money,
    /// What the promo code takes off.
    pub promo_discount: Money,
    /// Price of the lines.
    pub final_price: Money,
    /// Delivery price.
    pub delivery_price: Money,
}

impl Totals {
    /// What lines priced like this cost with a delivery.
    pub fn new(pricing: &Pricing, delivery_price: Money) -> Self {
        Self {
            delivery_price,
            original_price: pricing.original_price(),
            product_discount: pricing.product_discount(),
            promo_discount: pricing.promo_discount(),
            final_price: pricing.final_price(),
        }
    }

    /// What the customer pays: the lines and the delivery.
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

/// Money that arrives with a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// How much.
    pub amount: Money,
    /// What the outbox hears; `None` for an order of no application, which has no webhooks.
    pub event: Option<PaidEvent>,
}

/// How an employee took money by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum HandMethod {
    /// In cash.
    Cash,
    /// By card, at a terminal that is not connected to the service.
    Terminal,
}

/// A payment that an employee took by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentByHand {
    /// How.
    pub method: HandMethod,
    /// The number of the receipt that the cash register printed.
    pub receipt: Option<Line<100>>,
}

impl fmt::Display for PaymentByHand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method.word())?;
        self.receipt.as_ref().map_or(Ok(()), |receipt| write!(f, ", receipt {receipt}"))
    }
}

/// A refund to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedRefund {
    /// Names it for good.
    pub key: Uuid,
    /// What goes back.
    pub decided: DecidedRefund,
    /// Why.
    pub reason: String,
    /// Whether the goods go back to their warehouses.
    pub restock: bool,
    /// Whether the period of a subscription that the order paid ends with it.
    pub ends_period: bool,
}

impl OrderedRefund {
    /// What the acquirer is asked for; `None` when no money goes back.
    pub fn intent(&self, order: OrderId) -> Option<RefundIntent> {
        RefundIntent::new(self.key, self.decided.amount, format!("Refund of order {order}")).ok()
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
        PlacedOrder {
            project_id: ProjectId::new(1).unwrap(),
            application_id: ApplicationId::new(3).ok(),
            orderer: Orderer::Contact(person(None)),
            author: Author::System,
            manager_id: None,
            comment: None,
            status: OrderStatus::Created,
            lines: vec![],
            original_price: money(450),
            product_discount: Money::ZERO,
            promo_discount: Money::ZERO,
            final_price: money(450),
            delivery_charge: DeliveryCharge::default(),
            automatic: AppliedDiscounts::default(),
            promo: None,
            delivery: Delivery {
                type_id: kontor_kernel::DeliveryTypeId::new(1).unwrap(),
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
    fn totals_of_an_order_are_told_as_they_are() {
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
    fn a_payment_by_hand_tells_how_and_its_receipt() {
        let cash = PaymentByHand { method: HandMethod::Cash, receipt: None };
        assert_eq!(cash.to_string(), "cash");
        let terminal = PaymentByHand { method: HandMethod::Terminal, receipt: Line::parse("№ 7").ok() };
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
        let decided = DecidedRefund { amount: Money::ZERO, ..refund.decided.clone() };
        assert_eq!(OrderedRefund { decided, ..refund }.intent(OrderId::new(7).unwrap()), None);
    }
}
