//! The history of an order, the events published about it, and notices to customers. All are written in the transaction
//! of the event.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_kernel::history::{Author, HistoryAction, HistoryEntry};
use kontor_kernel::{Language, Money, OrderId, Page, PageRequest, StoreError, Word as _};
use kontor_orders::charge_outcome::EffectEntry;
use kontor_orders::model::{Notice, NoticeSubject, OrderEntry, OrderEvent, OrderStatus, PaidEvent};

use crate::database::{Abort, AnyConnection};
use crate::histories::{ACTORS_OF_PAGE, AUTHOR_NAMES};
use crate::order_history::{self, Entry};
use crate::schema::{notifications, order_events, outbox_events};
use crate::statement::{Statement, by_place};
use crate::{decode, unreadable};

by_place! {
    struct EntryRow {
        id: i64,
        actor: String,
        actor_id: Option<i64>,
        user_name: Option<String>,
        customer_name: Option<String>,
        event: String,
        status_id: i64,
        detail: Option<String>,
        changes: String,
        created_at: NaiveDateTime,
    }
}

impl TryFrom<EntryRow> for OrderEntry {
    type Error = StoreError;

    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        let event: OrderEvent = decode::word("order_events", row.id, "event", &row.event)?;
        let status = OrderStatus::from_id(row.status_id);
        let author = decode::author("order_events", row.id, &row.actor, row.actor_id)?;
        Ok(Self {
            line: HistoryEntry {
                id: row.id,
                action: if event == OrderEvent::Created { HistoryAction::Created } else { HistoryAction::Changed },
                author,
                author_name: decode::author_name(author, row.user_name, row.customer_name),
                changes: serde_json::from_str(&row.changes).map_err(StoreError::corrupt)?,
                at: decode::moment(row.created_at),
            },
            event,
            status: status.ok_or_else(|| decode::unknown("order_events", row.id, "status_id", row.status_id))?,
            detail: row.detail,
        })
    }
}

/// Returns one page of the history of an order, latest first.
pub(super) fn page(
    connection: &mut AnyConnection,
    order: OrderId,
    page: PageRequest,
) -> Result<Page<OrderEntry>, Abort<StoreError>> {
    let own = order_events::table.filter(order_events::order_id.eq(order.get()));
    let total: i64 = own.count().get_result(connection)?;
    // Names are loaded for the entries of the page only.
    let rows: Vec<EntryRow> = Statement::new(format!(
        "SELECT p.id, p.actor, p.actor_id, {AUTHOR_NAMES}, p.event, p.status_id, p.detail, p.changes, p.created_at \
         FROM (SELECT * FROM order_events WHERE order_id = "
    ))
    .value(order.get())
    .sql(" ORDER BY id DESC")
    .page(page)
    .sql(format!(") p{ACTORS_OF_PAGE} ORDER BY p.id DESC"))
    .rows(connection)?;
    Ok(decode::page(unreadable::rows("order_events", rows, |row| row.id, OrderEntry::try_from)?, total, page)?)
}

/// Adds the entry of an effect that the service itself causes.
pub(super) fn add_entry(
    connection: &mut AnyConnection,
    project: i64,
    order: OrderId,
    entry: &EffectEntry,
    at: NaiveDateTime,
) -> Result<(), Abort<StoreError>> {
    let (order, detail, changes) = (order.get().into(), entry.detail.as_deref(), entry.changes.clone());
    let (actor, event, status) = (Author::System, entry.event, entry.status);
    order_history::write(connection, &Entry { project, order, actor, event, status, detail, changes }, at)
}

/// Adds `order.paid` to the outbox.
pub(super) fn announce_paid(connection: &mut AnyConnection, event: &PaidEvent) -> Result<(), QueryError> {
    diesel::insert_into(outbox_events::table)
        .values((
            outbox_events::event_id.eq(event.event_id.to_string()),
            outbox_events::project_id.eq(event.project_id.get()),
            outbox_events::application_id.eq(event.application_id.get()),
            outbox_events::topic.eq(PaidEvent::TOPIC),
            outbox_events::payload.eq(event.payload().to_string()),
            outbox_events::created_at.eq(event.paid_at.naive_utc()),
        ))
        .execute(connection)?;
    Ok(())
}

by_place! {
    struct AddresseeRow {
        project: i64,
        application: i64,
        customer: i64,
        price: i64,
        currency: String,
        language: String,
    }
}

/// Notifies the customer of an order, in the current language of the project.
///
/// - Without an amount, the notice is about the amount the customer pays.
/// - An order without an application has no channel for the notice.
/// - Deleted customers are not notified.
/// - Payments of a subscription are reported by the subscription.
///
/// The caller has locked the customer.
pub(super) fn notify_customer<R>(
    connection: &mut AnyConnection,
    order: OrderId,
    notice: Notice,
    amount: Option<Money>,
    at: NaiveDateTime,
) -> Result<(), Abort<R>> {
    let addressee: Vec<AddresseeRow> = Statement::new(
        "SELECT o.project_id, o.application_id, o.counterparty_id, o.final_price + o.delivery_price, p.currency, p.language FROM orders o \
         JOIN projects p ON p.id = o.project_id JOIN counterparties c ON c.id = o.counterparty_id \
         AND c.project_id = o.project_id WHERE o.id = ",
    )
    .value(order.get())
    .sql(" AND o.application_id IS NOT NULL AND o.subscription_id IS NULL AND c.deleted_at IS NULL")
    .rows(connection)?;
    let Some(to) = addressee.into_iter().next() else { return Ok(()) };
    let language: Language = decode::word("projects", to.project, "language", &to.language)?;
    let amount = amount.map_or_else(|| decode::money(to.price), Ok)?;
    let text = notice.text(language, NoticeSubject { order, amount, currency: &to.currency });
    diesel::insert_into(notifications::table)
        .values((
            notifications::project_id.eq(to.project),
            notifications::application_id.eq(to.application),
            notifications::counterparty_id.eq(to.customer),
            notifications::order_id.eq(order.get()),
            notifications::code.eq(notice.word()),
            notifications::amount.eq(amount.minor()),
            notifications::language.eq(language.word()),
            notifications::title.eq(text.title),
            notifications::body.eq(text.body),
            notifications::created_at.eq(at),
        ))
        .execute(connection)?;
    Ok(())
}
