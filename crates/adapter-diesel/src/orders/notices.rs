//! Notices to customers about their orders, written in the transaction of the event.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{Language, Money, OrderId, Word as _};
use kontor_orders::model::{Notice, NoticeSubject};

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::schema::notifications;
use crate::statement::{Statement, by_place};

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
         JOIN projects p ON p.id = o.project_id JOIN counterparties c ON c.id = o.counterparty_id WHERE o.id = ",
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
