//! Changes: values that name everything one commit writes.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    ApplicationId, CounterpartyId, DiscountId, Edit, InventoryId, Money, NomenclatureId, OrderId, PaymentTypeId, Phone,
    ProjectId, Quantity, Stamp, UserId,
};
use kontor_payments::model::{NewCharge, RefundIntent, VatCode};
use uuid::Uuid;

use crate::model::{Address, Delivery, OrderStatus, PaidEvent, PaymentMethod, PreparedPayment, Transition};
use crate::pricing::LinePrice;
use crate::refund::DecidedRefund;

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

/// A whole order to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedOrder {
    /// The project.
    pub project_id: ProjectId,
    /// Where it is made; `None` when staff make it for the project.
    pub application_id: Option<ApplicationId>,
    /// Who gets it.
    pub counterparty_id: CounterpartyId,
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
    /// What is to be paid.
    pub final_price: Money,
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
    /// The payment to be asked for after the commit.
    pub payment: Option<PreparedPayment>,
    /// When.
    pub at: DateTime<Utc>,
}

impl PlacedOrder {
    /// The charge of this order, when it is paid online.
    pub fn charge(&self, order_id: OrderId) -> Option<NewCharge> {
        let payment = self.payment.as_ref()?;
        Some(NewCharge {
            project_id: self.project_id,
            application_id: self.application_id,
            counterparty_id: self.counterparty_id,
            request: payment.request(order_id),
            next_check_at: payment.next_check_at,
            at: self.at,
        })
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
    /// What goes back.
    pub refund: Option<OrderedRefund>,
    /// Who takes care of it.
    pub manager: Edit<Option<UserId>>,
    /// The remark.
    pub comment: Edit<Option<Comment>>,
    /// Where the goods are handed over.
    pub address: Edit<Option<Address>>,
}

impl OrderUpdate {
    /// One that changes nothing yet.
    pub fn of(stamp: Stamp) -> Self {
        Self {
            stamp,
            transition: None,
            captured: None,
            refund: None,
            manager: Edit::Keep,
            comment: Edit::Keep,
            address: Edit::Keep,
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
}

impl OrderedRefund {
    /// What the acquirer is asked for; `None` when no money goes back.
    pub fn intent(&self, order: OrderId) -> Option<RefundIntent> {
        RefundIntent::new(self.key, self.decided.amount, format!("Refund of order {order}")).ok()
    }
}
