//! Payments and orders of subscriptions: charge attempts and their outcomes.

use chrono::{DateTime, Utc};
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use kontor_kernel::history::Author;
use kontor_kernel::{
    ApplicationId, ChargeId, CounterpartyId, Email, Money, OrderId, Phone, ProjectId, Quantity, StoreError,
    SubscriptionId,
};
use kontor_orders::refund::RefundRefused;
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::change::ChargeChange;
use kontor_payments::model::{
    Charge, ChargeFailure, ChargePurpose, ChargeRequest, ChargeState, NewCharge, PaymentMode, PaymentSubject, Receipt,
    ReceiptContact, ReceiptItem, VatCode,
};
use kontor_subscriptions::model::NewAttempt;
use kontor_subscriptions::ports::ChargeTerms;
use kontor_subscriptions::{ChargeOrigin, EventContext, PaymentStanding, SubscriptionCase, SubscriptionEvent};

use super::refunds;
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::orders::{self, RecurringLine, RecurringOrder};
use crate::payments::{self, Key, Known};
use crate::receipt_terms;
use crate::statement::{IdRow, Statement, by_place};
use crate::subscriptions::{ChangeContext, NewPayment, Selection, cases, insert_payment, write};

/// Reason why no attempt can be made.
pub(super) enum AttemptError {
    /// The saved method belongs to another customer or is no longer active.
    MethodGone,
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
        phone: Option<String> as Nullable<Text>,
        email: Option<String> as Nullable<Text>,
        tax_system: Option<i32> as Nullable<Integer>,
        default_vat: Option<i32> as Nullable<Integer>,
    }
}

by_place! {
    struct ItemRow {
        id: i64 as BigInt,
        name: String as Text,
        vat: Option<i64> as Nullable<BigInt>,
    }
}

/// Amount to pay, and its receipt.
struct Bill {
    lines: Vec<RecurringLine>,
    total: Money,
    receipt: Option<Receipt>,
    /// `true` if a receipt is required and the customer has no contact for it.
    lacks_contact: bool,
}

/// Reason of an attempt that failed because the customer has no contact for the receipt.
const NO_CONTACT: &str = "receipt_contact_missing";

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
    let terms = default_vat.map(|vat| receipt_terms::terms(tax_system, vat)).transpose()?;
    let (mut lines, mut total) = (Vec::with_capacity(attempts.len()), Money::ZERO);
    for (_, attempt) in attempts {
        let (item, amount) = (attempt.terms.plan, attempt.terms.amount);
        let card = cards.iter().find(|card| card.id == item.get());
        let card = card.ok_or_else(|| StoreError::corrupt(format!("plan {item} was not found")))?;
        let vat = terms.map(|terms| card.vat.and_then(VatCode::of_dictionary).unwrap_or(terms.default_vat));
        total = total.checked_add(amount).ok_or_else(|| StoreError::corrupt("the sum of plans is too large"))?;
        lines.push(RecurringLine { item, name: card.name.clone(), amount, vat });
    }
    let Some(terms) = terms else { return Ok(Bill { lines, total, receipt: None, lacks_contact: false }) };
    let phone = decode::optional_text::<Phone>(phone.as_deref())?.map(ReceiptContact::Phone);
    let email = decode::optional_text::<Email>(email.as_deref())?.map(ReceiptContact::Email);
    let Some(contact) = phone.or(email) else { return Ok(Bill { lines, total, receipt: None, lacks_contact: true }) };
    let item = |line: &RecurringLine| ReceiptItem {
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
            Some(found.ok_or(Abort::Refused(AttemptError::MethodGone))?)
        }
    };
    let Bill { lines, total, receipt, lacks_contact } = bill(connection, payer, attempts)?;
    if lacks_contact && !one.planned {
        return Err(Abort::Refused(AttemptError::NoContact));
    }
    let method = saved.as_ref().map_or(terms.pays_by, |(_, _, method)| *method);
    let order = RecurringOrder {
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
    let order = orders::place_recurring(connection, &order).map_err(Abort::into_store)?;
    let marked = match one.origin {
        // The customer requested this charge: a worker never repeats it.
        ChargeOrigin::First => None,
        // No charge is sent.
        _ if lacks_contact => None,
        _ => Some(payments::mark(connection, *first, one.period, one.number).map_err(Abort::into_store)?),
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
        payments::adopt(connection, charge.id.get(), &payment)?;
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
    if !lacks_contact {
        if !payments::count_charge(connection)? {
            return Err(Abort::Refused(AttemptError::Restored));
        }
        return Ok((order, charge));
    }
    let failed =
        ChargeChange::Failed { provider_id: None, failure: ChargeFailure::Refused, reason: NO_CONTACT.to_owned() };
    super::record(connection, charge.id.get(), &failed, at).map_err(Abort::into_store)?;
    let charge = payments::load(connection, &Key::Id(charge.id.get())).map_err(Abort::into_store)?;
    Ok((order, charge.ok_or_else(|| StoreError::corrupt("a charge was not found"))?))
}

/// Applies the charge outcome of an order, whose row is locked, to its subscriptions. Refunded money pays no period.
pub(super) fn hear(
    connection: &mut AnyConnection,
    order: OrderId,
    change: &ChargeChange,
    known: &Known,
    unwanted: bool,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let (standing, reason) = match change {
        ChargeChange::Succeeded { .. } if unwanted => (PaymentStanding::Failed, Some("order_canceled")),
        ChargeChange::Succeeded { .. } => (PaymentStanding::Succeeded, None),
        ChargeChange::Failed { reason, .. } => (PaymentStanding::Failed, Some(reason.as_str())),
        ChargeChange::Postponed { unanswered: true, .. } => (PaymentStanding::Unclear, None),
        ChargeChange::Pending { .. } => (PaymentStanding::Processing, None),
        ChargeChange::Postponed { .. } | ChargeChange::Suspicious { .. } => return Ok(()),
    };
    let open = Statement::new("SELECT subscription_id FROM subscription_payments WHERE charge_id = ")
        .value(known.charge.id.get())
        .sql(" AND state IN ('processing', 'needs_reconciliation') ORDER BY subscription_id");
    let open: Vec<IdRow> = open.rows(connection)?;
    if open.is_empty() {
        return Ok(());
    }
    let method = match change {
        ChargeChange::Succeeded { method: Some(method), .. } => {
            let customer = known.charge.counterparty_id.get();
            payments::saved_as(connection, customer, &method.provider_id)?
        }
        _ => None,
    };
    let occasion = EventContext {
        planned: false,
        consent: None,
        saved_method: decode::optional_id(method)?,
        reason: reason.map(str::to_owned),
        ..EventContext::default()
    };
    for IdRow { id } in open {
        let found = cases(connection, &Selection::Locked(decode::id(id)?), at)?.into_iter().next();
        let case = found.ok_or_else(|| StoreError::corrupt(format!("subscription {id} was not found")))?;
        follow(connection, &case, standing, &occasion, (order, change, known), at)?;
    }
    Ok(())
}

/// Parks the subscriptions whose periods a charge was to pay, because its outcome is doubtful.
pub(super) fn contradicted(
    connection: &mut AnyConnection,
    charge: ChargeId,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let of_charge = Statement::new("SELECT subscription_id FROM subscription_payments WHERE charge_id = ")
        .value(charge.get())
        .sql(" ORDER BY subscription_id");
    let of_charge: Vec<IdRow> = of_charge.rows(connection)?;
    for IdRow { id } in of_charge {
        let Some(case) = cases(connection, &Selection::Locked(decode::id(id)?), at)?.into_iter().next() else {
            continue;
        };
        let parked = case.after(SubscriptionEvent::ChargeContradicted, &EventContext::default(), at);
        let parked = parked.map_err(StoreError::corrupt)?;
        let since = ChangeContext { before: &case.subscription, author: Author::System, zone: case.zone };
        write(connection, &since, &parked)?;
    }
    Ok(())
}

/// Applies a refund by staff to the subscriptions of the charge; `ends` states that the paid period ends with it.
pub(super) fn period_refunded(
    connection: &mut AnyConnection,
    charge: Option<ChargeId>,
    ends: bool,
    author: Author,
    at: DateTime<Utc>,
) -> Result<(), Abort<OrderError>> {
    by_place! {
        struct PaidRow {
            subscription: i64 as BigInt,
            period: i64 as BigInt,
        }
    }
    let refuse = || Abort::Refused(OrderRefusal::Refund(RefundRefused::NoPeriod).into());
    let paid: Vec<PaidRow> = Statement::new(
        "SELECT subscription_id, period FROM subscription_payments WHERE state = 'succeeded' AND charge_id = ",
    )
    .value(charge.map(ChargeId::get))
    .sql(" ORDER BY subscription_id")
    .rows(connection)?;
    if paid.is_empty() && ends {
        return Err(refuse());
    }
    for PaidRow { subscription, period } in paid {
        let found = cases(connection, &Selection::Locked(decode::id(subscription)?), at).map_err(Abort::into_store)?;
        let Some(case) = found.into_iter().next() else { continue };
        let current = case.subscription.period.is_some_and(|paid| i64::from(paid.number) == period);
        if ends && !current {
            return Err(refuse());
        }
        let occasion = EventContext { ends_period: ends, ..EventContext::default() };
        let refunded = case.after(SubscriptionEvent::RefundPeriod, &occasion, at).map_err(|_| refuse())?;
        let since = ChangeContext { before: &case.subscription, author, zone: case.zone };
        write(connection, &since, &refunded).map_err(Abort::into_store)?;
    }
    Ok(())
}

fn follow(
    connection: &mut AnyConnection,
    case: &SubscriptionCase,
    standing: PaymentStanding,
    occasion: &EventContext,
    (order, outcome, known): (OrderId, &ChargeChange, &Known),
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let change = match case.heard(standing, occasion, at) {
        None => return Ok(()),
        Some(Ok(change)) => change,
        Some(Err(refused)) => {
            // The transition table covers every outcome of an open charge. An uncovered one must be visible to
            // operators.
            tracing::error!(subscription = %case.subscription.id, %refused, "a charge outcome is not applicable");
            return Ok(());
        }
    };
    let since = ChangeContext { before: &case.subscription, author: Author::System, zone: case.zone };
    write(connection, &since, &change)?;
    if change.returns_money {
        refunds::refund_canceled_order(connection, order, outcome, known, at)?;
    }
    Ok(())
}
