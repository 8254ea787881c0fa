//! What happened to an order, and what the outside hears of it.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_kernel::history::Author;
use kontor_orders::model::{OrderStatus, PaidEvent};

use crate::database::AnyConnection;
use crate::schema::{order_events, outbox_events};
use crate::stored;

/// One entry of the history of an order.
pub(super) struct Entry<'a> {
    pub project: i64,
    pub order: i64,
    pub actor: Author,
    pub event: &'a str,
    pub status: OrderStatus,
    pub detail: Option<&'a str>,
}

pub(super) fn write(connection: &mut AnyConnection, entry: &Entry<'_>, at: NaiveDateTime) -> Result<(), QueryError> {
    let (actor, actor_id) = stored::actor(entry.actor);
    diesel::insert_into(order_events::table)
        .values((
            order_events::project_id.eq(entry.project),
            order_events::order_id.eq(entry.order),
            order_events::actor.eq(actor),
            order_events::actor_id.eq(actor_id),
            order_events::event.eq(entry.event),
            order_events::status_id.eq(entry.status.id()),
            order_events::detail.eq(entry.detail),
            order_events::created_at.eq(at),
        ))
        .execute(connection)?;
    Ok(())
}

/// Puts `order.paid` into the outbox.
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
