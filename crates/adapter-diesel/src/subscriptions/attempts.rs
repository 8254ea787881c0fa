//! Charge attempts of subscriptions, with their orders and charges. The orders have no delivery and never change.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{
    ApplicationId, CounterpartyId, Email, Money, NomenclatureId, OrderId, Phone, ProjectId, Quantity, StoreError,
    SubscriptionId, Word as _,
};
use kontor_orders::model::{OrderEvent, OrderStatus, PaymentMethod, ReservationState};
use kontor_payments::model::{
    Charge, ChargePurpose, ChargeRequest, ChargeState, NewCharge, PaymentMode, PaymentSubject, Receipt, ReceiptContact,
    ReceiptItem, VatCode,
};
use kontor_subscriptions::model::NewAttempt;
use kontor_subscriptions::ports::ChargeTerms;

use super::write::{NewPayment, insert_payment};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::order_history::{self, Entry};
use crate::payments::{self, ChargeConsequences as _, Key};
use crate::statement::{Statement, Value, by_place};

/// Delivery type of orders without delivery: pickup.
const NOTHING_DELIVERED: i64 = 1;

/// A plan that is paid for one period.
#[derive(Debug, Clone)]
pub(super) struct PeriodLine {
    pub item: NomenclatureId,
    pub name: String,
    pub amount: Money,
    /// VAT code; `None` when the project issues no receipts.
    pub vat: Option<VatCode>,
}

/// Order that waits for the payment of a period.
pub(super) struct PeriodOrder<'a> {
    pub project: i64,
    pub application: Option<i64>,
    pub customer: i64,
    pub subscription: SubscriptionId,
    pub lines: &'a [PeriodLine],
    pub total: Money,
    pub method: PaymentMethod,
    pub author: Author,
    pub at: DateTime<Utc>,
}

fn place(connection: &mut AnyConnection, order: &PeriodOrder<'_>) -> Result<OrderId, Abort<StoreError>> {
    let (at, status) = (order.at.naive_utc(), OrderStatus::WaitingForPayment);
    let row: [Value; 12] = [
        order.project.into(),
        order.application.into(),
        order.customer.into(),
        status.id().into(),
        order.total.minor().into(),
        order.total.minor().into(),
        NOTHING_DELIVERED.into(),
        order.method.word().into(),
        order.subscription.get().into(),
        at.into(),
        at.into(),
        1_i64.into(),
    ];
    let insert = Statement::new(
        "INSERT INTO orders (product_discount, promo_discount, project_id, application_id, counterparty_id, status_id, \
         original_price, final_price, delivery_type_id, payment_method_type, subscription_id, created_at, updated_at, \
         version) VALUES (0, 0",
    );
    let insert = row.into_iter().fold(insert, |insert, value| insert.sql(", ").value(value));
    let id: i64 = insert.sql(") RETURNING id").scalar(connection)?;
    for line in order.lines {
        insert_line(connection, order, id, line)?;
    }
    let entry = Entry {
        project: order.project,
        order: id.into(),
        actor: order.author,
        event: OrderEvent::Created,
        status,
        detail: None,
        changes: order_history::created(status, order.total, Money::ZERO),
    };
    order_history::write(connection, &entry, at)?;
    Ok(decode::id(id)?)
}

fn insert_line(
    connection: &mut AnyConnection,
    order: &PeriodOrder<'_>,
    id: i64,
    line: &PeriodLine,
) -> QueryResult<usize> {
    let at = order.at.naive_utc();
    let row: [Value; 10] = [
        order.project.into(),
        id.into(),
        line.item.get().into(),
        line.name.as_str().into(),
        line.amount.minor().into(),
        line.amount.minor().into(),
        line.vat.map(|vat| i64::from(vat.get())).into(),
        ReservationState::Held.word().into(),
        at.into(),
        at.into(),
    ];
    let insert = Statement::new(
        "INSERT INTO reservations (quantity, product_discount, promo_discount, is_ticket, project_id, order_id, \
         nomenclature_id, name, unit_price, total, vat_code, state, created_at, updated_at) VALUES (1, 0, 0, FALSE",
    );
    row.into_iter().fold(insert, |insert, value| insert.sql(", ").value(value)).sql(")").run(connection)
}

/// Reason why no attempt can be made.
pub(super) enum AttemptError {
    /// The saved method belongs to another customer or is no longer active.
    MethodUnavailable,
    /// Receipts are required, and the customer has no contact for them.
    NoContact,
    /// Another subscription of the customer has claimed the plan in the meantime.
    Subscribed,
    /// The database was restored from a backup, and was not yet compared with the acquirer.
    Restored,
    /// The storage failed.
    Store(StoreError),
}

impl From<StoreError> for AttemptError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Customer, application and author of an attempt.
#[derive(Clone, Copy)]
pub(super) struct Payer {
    pub project: ProjectId,
    pub application: Option<ApplicationId>,
    pub customer: CounterpartyId,
    pub author: Author,
}

by_place! {
    struct ContactRow {
        phone: Option<String>,
        email: Option<String>,
        tax_system: Option<i32>,
        default_vat: Option<i32>,
    }
}

by_place! {
    struct ItemRow {
        id: i64,
        name: String,
        vat: Option<i64>,
    }
}

/// Amount to pay, and its receipt.
struct Bill {
    lines: Vec<PeriodLine>,
    total: Money,
    receipt: Option<Receipt>,
    /// `true` if a receipt is required and the customer has no contact for it.
    lacks_contact: bool,
}

/// Returns the total of the attempts' periods, according to the consented terms.
fn bill(
    connection: &mut AnyConnection,
    payer: Payer,
    attempts: &[(SubscriptionId, NewAttempt)],
) -> Result<Bill, Abort<AttemptError>> {
    let items: Vec<i64> = attempts.iter().map(|(_, attempt)| attempt.terms.plan.get()).collect();
    let cards: Vec<ItemRow> =
        Statement::new("SELECT id, name, vat_id FROM nomenclatures WHERE id").among(&items).rows(connection)?;
    let ContactRow { phone, email, tax_system, default_vat } = Statement::new(
        "SELECT c.phone_1, c.email, t.tax_system_code, t.default_vat_code FROM counterparties c \
         LEFT JOIN receipt_settings t ON t.project_id = c.project_id WHERE c.id = ",
    )
    .value(payer.customer.get())
    .row(connection)?;
    let terms = default_vat.map(|vat| payments::receipt_terms(tax_system, vat)).transpose()?;
    let (mut lines, mut total) = (Vec::with_capacity(attempts.len()), Money::ZERO);
    for (_, attempt) in attempts {
        let (item, amount) = (attempt.terms.plan, attempt.terms.amount);
        let card = cards.iter().find(|card| card.id == item.get());
        let card = card.ok_or_else(|| StoreError::corrupt(format!("plan {item} was not found")))?;
        let vat = terms.map(|terms| card.vat.and_then(VatCode::of_dictionary).unwrap_or(terms.default_vat));
        total = total.checked_add(amount).ok_or_else(|| StoreError::corrupt("the sum of plans is too large"))?;
        lines.push(PeriodLine { item, name: card.name.clone(), amount, vat });
    }
    let Some(terms) = terms else { return Ok(Bill { lines, total, receipt: None, lacks_contact: false }) };
    let phone = decode::optional_text::<Phone>(phone.as_deref())?.map(ReceiptContact::Phone);
    let email = decode::optional_text::<Email>(email.as_deref())?.map(ReceiptContact::Email);
    let Some(contact) = phone.or(email) else { return Ok(Bill { lines, total, receipt: None, lacks_contact: true }) };
    let item = |line: &PeriodLine| ReceiptItem {
        name: line.name.clone(),
        quantity: Quantity::ONE,
        total: line.amount,
        vat: line.vat.unwrap_or(terms.default_vat),
        subject: PaymentSubject::Service,
        mode: PaymentMode::FullPayment,
    };
    let items: Vec<ReceiptItem> = lines.iter().map(item).collect();
    let receipt = Receipt::new(contact, terms.tax_system, &items, total).map_err(StoreError::corrupt)?;
    Ok(Bill { lines, total, receipt: Some(receipt), lacks_contact: false })
}

/// Stores the attempts with their order and their charge: one payment for all their periods. Without a contact for the
/// receipt, a planned attempt fails in this transaction, and a requested one is refused.
pub(super) fn attempt(
    connection: &mut AnyConnection,
    payer: Payer,
    attempts: &[(SubscriptionId, NewAttempt)],
    terms: &ChargeTerms,
    at: DateTime<Utc>,
) -> Result<(OrderId, Charge), Abort<AttemptError>> {
    let Some((first, one)) = attempts.first() else {
        return Err(StoreError::corrupt("a charge attempt has no subscription").into());
    };
    let saved = match one.terms.method {
        None => None,
        Some(id) => {
            let found = payments::chargeable_method(connection, payer.customer.get(), id).map_err(Abort::into_store)?;
            Some(found.ok_or(Abort::Refused(AttemptError::MethodUnavailable))?)
        }
    };
    let Bill { lines, total, receipt, lacks_contact } = bill(connection, payer, attempts)?;
    let failed = lacks_contact.then(|| one.without_receipt_contact().ok_or(Abort::Refused(AttemptError::NoContact)));
    let failed = failed.transpose()?;
    let method = saved.as_ref().map_or(terms.pays_by, |(_, _, method)| *method);
    let order = PeriodOrder {
        project: payer.project.get(),
        application: payer.application.map(ApplicationId::get),
        customer: payer.customer.get(),
        subscription: *first,
        lines: &lines,
        total,
        method,
        author: payer.author,
        at,
    };
    let order = place(connection, &order).map_err(Abort::into_store)?;
    // A failed attempt sends no charge.
    let marked = if one.is_repeatable() && failed.is_none() {
        Some(payments::mark(connection, *first, one.period, one.number).map_err(Abort::into_store)?)
    } else {
        None
    };
    let request = ChargeRequest {
        purpose: ChargePurpose::Order(order),
        key: marked.as_ref().map_or(terms.key, |marked| marked.key),
        renewal: marked.as_ref().map(|marked| marked.renewal),
        amount: total,
        currency: one.terms.currency.clone(),
        method,
        description: format!("Subscription {first}, order {order}"),
        return_url: terms.return_url.replace("{order_id}", &order.to_string()),
        save_method: saved.is_none(),
        saved_method: saved.map(|(reference, _, _)| reference),
        receipt,
    };
    let new = NewCharge {
        project_id: payer.project,
        application_id: payer.application,
        counterparty_id: payer.customer,
        request,
        next_check_at: terms.next_check_at,
        at,
    };
    let charge = payments::insert(connection, &new).map_err(Abort::into_store)?;
    let mut charge = charge.ok_or_else(|| StoreError::corrupt("the key of a charge is already in use"))?;
    if let Some(payment) = marked.and_then(|marked| marked.payment) {
        payments::assign_payment(connection, &charge, &payment)?;
        charge = Charge { state: ChargeState::Pending, provider_id: Some(payment), ..charge };
    }
    for (subscription, attempt) in attempts {
        let new = NewPayment {
            project: payer.project.get(),
            subscription: *subscription,
            order,
            charge: charge.id,
            at: at.naive_utc(),
        };
        insert_payment(connection, &new, attempt)?;
    }
    let Some(failed) = failed else {
        if !payments::count_charge(connection)? {
            return Err(Abort::Refused(AttemptError::Restored));
        }
        return Ok((order, charge));
    };
    connection.record_charge(charge.id, &failed, at).map_err(Abort::into_store)?;
    let charge = payments::load(connection, &Key::Id(charge.id.get())).map_err(Abort::into_store)?;
    Ok((order, charge.ok_or_else(|| StoreError::corrupt("a charge was not found"))?))
}
