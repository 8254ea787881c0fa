//! History entries of orders, and the events published about them.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamp};
use kontor_kernel::history::{Author, FieldChange, HistoryAction, HistoryEntry};
use kontor_kernel::{Money, OrderId, Page, PageRequest, StoreError, Word as _};
use kontor_orders::model::{OrderEntry, OrderEvent, OrderStatus, PaidEvent};

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::histories::{ACTORS_OF_PAGE, AUTHOR_NAMES};
use crate::schema::{order_events, outbox_events};
use crate::statement::{Statement, Value, by_place};
use crate::unreadable;

/// History entry to write.
pub(super) struct Entry<'a> {
    pub project: i64,
    pub order: Value,
    pub actor: Author,
    pub event: OrderEvent,
    pub status: OrderStatus,
    pub detail: Option<&'a str>,
    pub changes: Vec<FieldChange>,
}

/// Returns the change of an order field by an outcome.
pub(super) fn figure(field: &str, old: impl ToString, new: impl ToString) -> FieldChange {
    FieldChange { field: field.to_owned(), old: Some(old.to_string()), new: Some(new.to_string()) }
}

/// Returns the fields of the first history entry: those that can change later.
pub(super) fn created(status: OrderStatus, final_price: Money, delivery_price: Money) -> Vec<FieldChange> {
    let field = |name: &str, value: String| FieldChange { field: name.to_owned(), old: None, new: Some(value) };
    let delivery = (!delivery_price.is_zero()).then(|| field("delivery_price", delivery_price.to_string()));
    let always = [field("status_id", status.id().to_string()), field("final_price", final_price.to_string())];
    always.into_iter().chain(delivery).collect()
}

pub(super) fn write<R>(connection: &mut AnyConnection, entry: &Entry<'_>, at: NaiveDateTime) -> Result<(), Abort<R>> {
    line(entry, at)?.run(connection)?;
    Ok(())
}

/// Returns the statement that writes an entry.
pub(super) fn line(entry: &Entry<'_>, at: NaiveDateTime) -> Result<Statement, StoreError> {
    let (actor, actor_id) = decode::actor(entry.actor);
    let changes = serde_json::to_string(&entry.changes).map_err(StoreError::corrupt)?;
    Ok(Statement::new(
        "INSERT INTO order_events (project_id, order_id, actor, actor_id, event, status_id, detail, changes, created_at) VALUES ",
    )
    .tuple([
        entry.project.into(),
        entry.order.clone(),
        actor.into(),
        actor_id.into(),
        entry.event.word().into(),
        entry.status.id().into(),
        entry.detail.into(),
        changes.into(),
        at.into(),
    ]))
}

by_place! {
    struct EntryRow {
        id: i64 as BigInt,
        actor: String as Text,
        actor_id: Option<i64> as Nullable<BigInt>,
        user_name: Option<String> as Nullable<Text>,
        customer_name: Option<String> as Nullable<Text>,
        event: String as Text,
        status_id: i64 as BigInt,
        detail: Option<String> as Nullable<Text>,
        changes: String as Text,
        created_at: NaiveDateTime as Timestamp,
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
    .sql(" ORDER BY id DESC LIMIT ")
    .value(page.limit())
    .sql(" OFFSET ")
    .value(page.offset())
    .sql(format!(") p{ACTORS_OF_PAGE} ORDER BY p.id DESC"))
    .rows(connection)?;
    Ok(decode::page(unreadable::rows("order_events", rows, |row| row.id, OrderEntry::try_from)?, total, page)?)
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
