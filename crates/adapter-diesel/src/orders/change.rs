//! A change of an order by staff.

use diesel::prelude::*;
use kontor_kernel::{Edit, OrderId, Word};
use kontor_orders::change::OrderUpdate;
use kontor_orders::model::{OrderStatus, StockEffect};
use kontor_orders::ports::ChangeRefused;
use kontor_payments::model::{ChargePurpose, ChargeState};

use super::history::{self, Entry};
use super::reserved_stock;
use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, AnyConnection, found};
use crate::schema::{charges, orders, users};
use crate::stored;

type Refused = Abort<ChangeRefused>;

/// `None` leaves a column as it is.
#[derive(AsChangeset)]
#[diesel(table_name = orders)]
struct Columns {
    status_id: Option<i64>,
    paid_at: Option<chrono::NaiveDateTime>,
    updated_at: chrono::NaiveDateTime,
}

pub(crate) fn apply(connection: &mut AnyConnection, change: &OrderUpdate) -> Result<(), Refused> {
    let (order, project, at) = (change.order_id.get(), change.stamp.project_id.get(), change.stamp.at.naive_utc());
    if let Some(manager) = change.manager.as_filled() {
        let own = users::table.find(manager.get()).filter(users::project_id.eq(project));
        if !found!(connection, own)? {
            return Err(Abort::Refused(ChangeRefused::UnknownManager));
        }
    }
    let columns = Columns {
        status_id: change.transition.map(|step| step.to.id()),
        paid_at: change.paid.as_ref().map(|event| event.paid_at.naive_utc()),
        updated_at: at,
    };
    let current: Option<i64> =
        diesel::update(orders::table.filter(orders::id.eq(order)).filter(orders::version.eq(change.version)))
            .set((columns, orders::version.eq(orders::version + 1)))
            .returning(orders::status_id)
            .get_result(connection)
            .optional()?;
    let status = current.ok_or(Abort::Refused(ChangeRefused::Stale))?;
    write_details(connection, change)?;
    if change.transition.is_some() {
        invalidate(Topic::Storefront, project);
    }
    match change.transition.map(|step| step.stock) {
        Some(StockEffect::Release) => {
            if has_open_payment(connection, change.order_id)? {
                return Err(Abort::Refused(ChangeRefused::Stale));
            }
            reserved_stock::release(connection, order, change.stamp.author, at)?;
        }
        Some(StockEffect::Sell) => reserved_stock::sell(connection, order, change.stamp.author, at)?,
        Some(StockEffect::Keep) | None => {}
    }
    if let Some(event) = &change.paid {
        history::announce_paid(connection, event)?;
    }
    let entry = Entry {
        project,
        order,
        actor: change.stamp.author,
        event: if change.transition.is_some() { "status_changed" } else { "changed" },
        status: OrderStatus::from_id(status).ok_or_else(|| stored::unknown("orders", order, "status_id", status))?,
        detail: None,
    };
    Ok(history::write(connection, &entry, at)?)
}

/// Each detail may also be emptied.
fn write_details(connection: &mut AnyConnection, change: &OrderUpdate) -> Result<(), diesel::result::Error> {
    let order = orders::table.find(change.order_id.get());
    if let Edit::Set(manager) = change.manager {
        diesel::update(order).set(orders::manager_id.eq(manager.map(i64::from))).execute(connection)?;
    }
    if let Edit::Set(comment) = &change.comment {
        diesel::update(order).set(orders::comment.eq(comment.as_deref())).execute(connection)?;
    }
    if let Edit::Set(address) = &change.address {
        diesel::update(order).set(orders::address.eq(address.as_deref())).execute(connection)?;
    }
    Ok(())
}

/// The charge is stored together with its order, so one that is not open now never will be.
fn has_open_payment(connection: &mut AnyConnection, order: OrderId) -> Result<bool, diesel::result::Error> {
    let purpose = ChargePurpose::Order(order);
    let open = charges::table
        .filter(charges::purpose.eq(purpose.kind()))
        .filter(charges::purpose_id.eq(purpose.number()))
        .filter(charges::state.eq_any(ChargeState::OPEN.map(ChargeState::word)));
    found!(connection, open)
}
