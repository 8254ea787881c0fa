//! History entries of orders, for the domains that write orders.

use chrono::NaiveDateTime;
use kontor_kernel::history::{Author, FieldChange};
use kontor_kernel::{Money, StoreError, Word as _};
use kontor_orders::model::{OrderEvent, OrderStatus};

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::statement::{Statement, Value};

/// History entry to write.
pub(crate) struct Entry<'a> {
    pub project: i64,
    pub order: Value,
    pub actor: Author,
    pub event: OrderEvent,
    pub status: OrderStatus,
    pub detail: Option<&'a str>,
    pub changes: Vec<FieldChange>,
}

/// Returns the change of an order field by an outcome.
pub(crate) fn figure(field: &str, old: impl ToString, new: impl ToString) -> FieldChange {
    FieldChange { field: field.to_owned(), old: Some(old.to_string()), new: Some(new.to_string()) }
}

/// Returns the fields of the first history entry: those that can change later.
pub(crate) fn created(status: OrderStatus, final_price: Money, delivery_price: Money) -> Vec<FieldChange> {
    let field = |name: &str, value: String| FieldChange { field: name.to_owned(), old: None, new: Some(value) };
    let delivery = (!delivery_price.is_zero()).then(|| field("delivery_price", delivery_price.to_string()));
    let always = [field("status_id", status.id().to_string()), field("final_price", final_price.to_string())];
    always.into_iter().chain(delivery).collect()
}

pub(crate) fn write<R>(connection: &mut AnyConnection, entry: &Entry<'_>, at: NaiveDateTime) -> Result<(), Abort<R>> {
    line(entry, at)?.run(connection)?;
    Ok(())
}

/// Returns the statement that writes an entry.
pub(crate) fn line(entry: &Entry<'_>, at: NaiveDateTime) -> Result<Statement, StoreError> {
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
