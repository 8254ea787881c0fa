//! Orders that wait: those from the contact form, until an employee confirms them, and those for which no payment is
//! requested any more. Their payment was canceled for a change of lines that never followed, or by the merchant at the
//! acquirer.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{OrderId, ProjectId, StoreError};
use kontor_orders::change::{Orderer, PlacedOrder};
use kontor_orders::charge_outcome::{PAYMENT_PATIENCE, decide_hold_expiry, payment_missing};
use kontor_orders::ports::{ContactSettings, PlaceRefused};
use kontor_orders::{ContactTerms, HoldHours, Unconfirmed};
use kontor_payments::model::ChargePurpose;

use super::charge_outcome::{lock, write};
use crate::customer_data::{CustomerOf, lock_customer_of};
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::lease::is_here;
use crate::payments::{self, Key};
use crate::schema::{orders, projects};
use crate::statement::{Statement, by_place};

/// Orders per batch.
const BATCH: i64 = 100;

by_place! {
    struct ReservedRow {
        pieces: i64,
        value: i64,
    }
}

/// Decodes stored terms.
pub(super) fn terms(max_pieces: i64, max_value: i64, hold_hours: i64) -> Result<ContactTerms, StoreError> {
    Ok(ContactTerms {
        max_pieces: u32::try_from(max_pieces).map_err(StoreError::corrupt)?,
        max_value: decode::money(max_value)?,
        hold_hours: HoldHours::new(hold_hours).map_err(StoreError::corrupt)?,
    })
}

/// Refuses an order from the contact form if the unconfirmed orders of its phone would exceed the terms. Requests with
/// the same phone run one after the other: each locks the contact, which is bound by now. The caller has locked the
/// customer.
pub(super) fn admit(connection: &mut AnyConnection, order: &PlacedOrder) -> Result<(), Abort<PlaceRefused>> {
    let (Some(terms), Orderer::Contact(person)) = (order.contact, &order.orderer) else { return Ok(()) };
    let (project, phone) = (order.project_id.get(), person.phone.as_str());
    Statement::new("SELECT contact FROM login_contacts WHERE project_id = ")
        .value(project)
        .sql(" AND contact = ")
        .value(phone)
        .hold(connection, " FOR NO KEY UPDATE")?;
    let reserved: ReservedRow = Statement::new(
        "WITH unconfirmed AS (SELECT id, final_price FROM orders WHERE reserved_until IS NOT NULL AND project_id = ",
    )
    .value(project)
    .sql(" AND phone = ")
    .value(phone)
    .sql(
        ") SELECT CAST(COALESCE((SELECT sum(r.quantity) FROM reservations r WHERE r.order_id IN (SELECT id FROM unconfirmed) \
         AND r.inventory_id IS NOT NULL), 0) AS BIGINT), \
         CAST(COALESCE((SELECT sum(final_price) FROM unconfirmed), 0) AS BIGINT)",
    )
    .row(connection)?;
    let before = Unconfirmed {
        pieces: u64::try_from(reserved.pieces).map_err(StoreError::corrupt)?,
        value: decode::money(reserved.value)?,
    };
    terms.admit(before.plus(order.unconfirmed())).map_err(|problem| Abort::Refused(PlaceRefused::Contact(problem)))
}

/// Returns unconfirmed orders whose time has expired. Uses the index `orders_unconfirmed`.
fn expired(connection: &mut AnyConnection, at: NaiveDateTime) -> Result<Vec<i64>, Abort<StoreError>> {
    Ok(Statement::new("SELECT id FROM orders WHERE reserved_until IS NOT NULL AND reserved_until <= ")
        .value(at)
        .sql(format!(" AND {}", is_here("orders")))
        .sql(" ORDER BY reserved_until LIMIT ")
        .value(BATCH)
        .scalars(connection)?)
}

/// Cancels an order, unless it was confirmed or canceled in the meantime.
fn cancel(connection: &mut AnyConnection, id: OrderId, at: DateTime<Utc>) -> Result<bool, Abort<StoreError>> {
    lock_customer_of(connection, CustomerOf::Order(id.get()))?;
    let order = lock(connection, id)?;
    let until: Option<NaiveDateTime> = orders::table.find(id.get()).select(orders::reserved_until).first(connection)?;
    let effects = decide_hold_expiry(&order, until.map(decode::moment), at);
    write(connection, &order, &effects, at)?;
    Ok(!effects.is_empty())
}

impl Database {
    /// Cancels orders from the contact form that no employee confirmed in time and releases their stock. Each order is
    /// one transaction. Returns the number of canceled orders.
    pub async fn cancel_unconfirmed(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        let found = self.read(move |connection| expired(connection, at.naive_utc())).await?;
        self.cancel_each(found, move |connection, order| cancel(connection, order, at)).await
    }

    /// Runs a cancellation for each order, in its own transaction. Returns the number of canceled orders. A failure
    /// does not stop the other orders: the first error is returned at the end.
    pub(crate) async fn cancel_each(
        &self,
        orders: Vec<i64>,
        step: impl Fn(&mut AnyConnection, OrderId) -> Result<bool, Abort<StoreError>> + Copy + Send + Sync + 'static,
    ) -> Result<usize, StoreError> {
        let (mut canceled, mut failure) = (0, None);
        for id in orders {
            let order = decode::id(id)?;
            match self.write(move |connection| step(connection, order)).await {
                Ok(done) => canceled += usize::from(done),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(canceled), Err)
    }
}

#[async_trait]
impl ContactSettings for Database {
    async fn contact_terms(&self, project: ProjectId) -> Result<Option<ContactTerms>, StoreError> {
        self.read(move |connection| {
            let row: Option<(i64, i64, i64)> = projects::table
                .find(project.get())
                .select((projects::contact_max_pieces, projects::contact_max_value, projects::contact_hold_hours))
                .first(connection)
                .optional()?;
            let terms = row.map(|(pieces, value, hours)| terms(pieces, value, hours)).transpose()?;
            Ok::<_, Abort<StoreError>>(terms)
        })
        .await
    }

    async fn set_contact_terms(&self, project: ProjectId, terms: ContactTerms) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let set = diesel::update(projects::table.find(project.get())).set((
                projects::contact_max_pieces.eq(i64::from(terms.max_pieces)),
                projects::contact_max_value.eq(terms.max_value.minor()),
                projects::contact_hold_hours.eq(i64::from(terms.hold_hours.get())),
                projects::version.eq(projects::version + 1),
            ));
            Ok::<_, Abort<StoreError>>(set.execute(connection)? == 1)
        })
        .await
    }
}

/// Returns orders that have waited since before this time, without an open charge. Uses the index `orders_waiting`.
fn waiting(connection: &mut AnyConnection, since: DateTime<Utc>) -> Result<Vec<i64>, Abort<StoreError>> {
    Ok(Statement::new("SELECT o.id FROM orders o WHERE o.status_id = 2 AND o.updated_at <= ")
        .value(since.naive_utc())
        .sql(
            " AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.purpose = 'order' AND c.purpose_id = o.id \
             AND c.project_id = o.project_id AND c.state IN ('prepared', 'pending', 'succeeded'))",
        )
        .sql(format!(" AND {} ORDER BY o.updated_at LIMIT ", is_here("o")))
        .value(BATCH)
        .scalars(connection)?)
}

/// Cancels an order if it still waits for a payment. Locks the customer before the order, as in every transaction.
fn cancel_waiting(connection: &mut AnyConnection, id: OrderId, at: DateTime<Utc>) -> Result<bool, Abort<StoreError>> {
    lock_customer_of(connection, CustomerOf::Order(id.get()))?;
    let order = lock(connection, id)?;
    let payment_open = payments::load(connection, &Key::Open(ChargePurpose::Order(id)))?.is_some();
    let effects = payment_missing(&order, payment_open);
    write(connection, &order, &effects, at)?;
    Ok(!effects.is_empty())
}

impl Database {
    /// Cancels orders that have waited for [`PAYMENT_PATIENCE`] without a requested payment, and releases their stock.
    /// Each order is one transaction. Returns the number of canceled orders.
    pub async fn cancel_unpaid_orders(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        let found = self.read(move |connection| waiting(connection, at - PAYMENT_PATIENCE)).await?;
        self.cancel_each(found, move |connection, order| cancel_waiting(connection, order, at)).await
    }
}
