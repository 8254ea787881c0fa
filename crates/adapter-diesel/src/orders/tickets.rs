//! Ticket admission. Every scan is a row that never changes. Admitted units are counted on their orders. These are
//! locked by ascending id before any decision.

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Author;
use kontor_kernel::{OrderId, Page, PageRequest, Quantity, ShopId, StoreError, UserId, Word};
use kontor_orders::change::{ChangedLine, LineChangeSet, PlacedOrder};
use kontor_orders::model::{OrderEvent, OrderStatus};
use kontor_orders::ports::TicketStore;
use kontor_orders::tickets::{
    CheckedScan, EarlierScan, ScanAnswer, ScanBatch, ScanId, ScanOutcome, StoredScan, TicketOrder, scan_outcome,
};

use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::locks::lock_rows;
use crate::order_history::{self, Entry, figure};
use crate::schema::{keyed, order_tickets, orders};
use crate::statement::{Statement, Value, by_place};
use crate::unreadable;

type Failed = Abort<StoreError>;

#[async_trait]
impl TicketStore for Database {
    async fn redeem(&self, batch: ScanBatch) -> Result<Vec<ScanAnswer>, StoreError> {
        self.write(move |connection| redeem(connection, &batch)).await
    }

    async fn of_order(&self, order: OrderId, page: PageRequest) -> Result<Page<StoredScan>, StoreError> {
        self.snapshot(move |connection| {
            let total = Statement::new("SELECT count(*) FROM ticket_scans WHERE order_id = ").value(order.get());
            let total: i64 = total.scalar(connection)?;
            let own = Statement::new("s.order_id = ").value(order.get()).sql(" ORDER BY s.id DESC").page(page);
            let rows = load_scans(connection, own)?;
            Ok(decode::page(unreadable::rows("ticket_scans", rows, |row| row.id, StoredScan::try_from)?, total, page)?)
        })
        .await
    }
}

fn redeem(connection: &mut AnyConnection, batch: &ScanBatch) -> Result<Vec<ScanAnswer>, Failed> {
    let shops = known_shops(connection, batch)?;
    lock_orders(connection, batch)?;
    batch.scans.iter().map(|scan| answer(connection, batch, scan, &shops)).collect()
}

fn known_shops(connection: &mut AnyConnection, batch: &ScanBatch) -> Result<BTreeSet<i64>, Failed> {
    let named: BTreeSet<i64> = batch.scans.iter().filter_map(|scan| scan.scan.shop.map(ShopId::get)).collect();
    if named.is_empty() {
        return Ok(named);
    }
    let named: Vec<i64> = named.into_iter().collect();
    let own = Statement::new("SELECT id FROM shops WHERE project_id = ").value(batch.stamp.project_id.get());
    Ok(own.sql(" AND id").among(&named).scalars::<i64>(connection)?.into_iter().collect())
}

/// Locks the orders of all scans, so that concurrent batches wait for each other without deadlock.
fn lock_orders(connection: &mut AnyConnection, batch: &ScanBatch) -> Result<(), Failed> {
    let references: BTreeSet<&str> =
        batch.scans.iter().filter_map(|scan| Some(scan.reference.as_ref()?.as_str())).collect();
    if references.is_empty() || !connection.is_postgres() {
        return Ok(());
    }
    let orders: Vec<i64> = Statement::new("SELECT order_id FROM order_tickets WHERE project_id = ")
        .value(batch.stamp.project_id.get())
        .sql(" AND reference IN ")
        .tuple(references.into_iter().map(Value::from))
        .once()
        .scalars(connection)?;
    Ok(lock_rows(connection, "orders", &orders)?)
}

fn answer(
    connection: &mut AnyConnection,
    batch: &ScanBatch,
    scan: &CheckedScan,
    shops: &BTreeSet<i64>,
) -> Result<ScanAnswer, Failed> {
    if scan.scan.shop.is_some_and(|shop| !shops.contains(&shop.get())) {
        return Ok(ScanAnswer::UnknownShop);
    }
    let project = batch.stamp.project_id.get();
    if let Some(known) = by_name(connection, project, &scan.scan.id)? {
        return repeated_answer(known, scan);
    }
    let order = order_of(connection, project, scan)?;
    let tickets = order.as_ref().map(|found| &found.tickets);
    let now = batch.stamp.at;
    let outcome = scan_outcome(tickets, scan.scan.quantity, scan.scan.shop, scan.at, now, &batch.terms);
    let earlier = match (&order, outcome) {
        (Some(order), ScanOutcome::AlreadyRedeemed | ScanOutcome::TooMany) => last_entry(connection, order.id)?,
        _ => EntryRow::default(),
    };
    if !store_scan(connection, batch, scan, order.as_ref(), outcome, &earlier)? {
        // A concurrent request has committed a scan with this id.
        let known = by_name(connection, project, &scan.scan.id)?;
        let known = known.ok_or_else(|| StoreError::Failed("an existing scan was not found".to_owned()))?;
        return repeated_answer(known, scan);
    }
    if let (Some(order), ScanOutcome::Admitted) = (&order, outcome) {
        count(connection, batch, scan, order)?;
    }
    let known = by_name(connection, project, &scan.scan.id)?;
    repeated_answer(known.ok_or_else(|| StoreError::Failed("a stored scan was not found".to_owned()))?, scan)
}

by_place! {
    struct OrderRow {
        id: i64,
        status: i64,
        price: i64,
        placed_at: NaiveDateTime,
        paid_at: Option<NaiveDateTime>,
        captured: i64,
        kept: i64,
        shop: Option<i64>,
        total: i64,
        redeemed: i64,
    }
}

/// An order whose row is locked.
struct Order {
    id: i64,
    status: OrderStatus,
    tickets: TicketOrder,
}

fn order_of(connection: &mut AnyConnection, project: i64, scan: &CheckedScan) -> Result<Option<Order>, Failed> {
    let Some(reference) = &scan.reference else { return Ok(None) };
    let found: Vec<OrderRow> = Statement::new(
        "SELECT o.id, o.status_id, o.final_price + o.delivery_price, o.created_at, o.paid_at, o.captured, \
         o.captured - o.refunded - o.refunding, o.shop_id, t.total, t.redeemed FROM order_tickets t \
         JOIN orders o ON o.id = t.order_id AND o.project_id = t.project_id WHERE t.project_id = ",
    )
    .value(project)
    .sql(" AND t.reference = ")
    .value(reference.as_str())
    .rows(connection)?;
    let Some(row) = found.into_iter().next() else { return Ok(None) };
    let status = OrderStatus::from_id(row.status);
    let status = status.ok_or_else(|| decode::unknown("orders", row.id, "status_id", row.status))?;
    let tickets = TicketOrder {
        status,
        price: decode::money(row.price)?,
        placed_at: decode::moment(row.placed_at),
        paid_at: row.paid_at.map(decode::moment),
        captured: decode::money(row.captured)?,
        kept: decode::money(row.kept)?,
        shop: decode::optional_id(row.shop)?,
        total: pieces(row.total)?,
        redeemed: pieces(row.redeemed)?,
    };
    Ok(Some(Order { id: row.id, status, tickets }))
}

pub(super) fn pieces(number: i64) -> Result<u32, StoreError> {
    u32::try_from(number).map_err(StoreError::corrupt)
}

by_place! {
    #[derive(Default)]
    struct EntryRow {
        at: Option<NaiveDateTime>,
        shop: Option<i64>,
    }
}

/// Returns the last admission of an order.
fn last_entry(connection: &mut AnyConnection, order: i64) -> Result<EntryRow, Failed> {
    let last: Vec<EntryRow> = Statement::new("SELECT scanned_at, shop_id FROM ticket_scans WHERE order_id = ")
        .value(order)
        .sql(" AND outcome = ")
        .value(ScanOutcome::Admitted.word())
        .sql(" ORDER BY scanned_at DESC, id DESC LIMIT 1")
        .rows(connection)?;
    Ok(last.into_iter().next().unwrap_or_default())
}

/// Writes a scan with its outcome. Returns `false` if its id is taken.
fn store_scan(
    connection: &mut AnyConnection,
    batch: &ScanBatch,
    scan: &CheckedScan,
    order: Option<&Order>,
    outcome: ScanOutcome,
    earlier: &EntryRow,
) -> Result<bool, Failed> {
    let Author::User(user) = batch.stamp.author else {
        return Err(StoreError::Failed("only employees scan tickets".to_owned()).into());
    };
    let entering = if outcome == ScanOutcome::Admitted { i64::from(scan.scan.quantity.get()) } else { 0 };
    let values: Vec<Value> = vec![
        batch.stamp.project_id.get().into(),
        order.map(|order| order.id).into(),
        scan.scan.id.as_str().into(),
        scan.fingerprint.as_str().into(),
        i64::from(scan.scan.quantity.get()).into(),
        scan.scan.shop.map(ShopId::get).into(),
        scan.scan.at.is_some().into(),
        scan.at.naive_utc().into(),
        user.get().into(),
        outcome.word().into(),
        order.map_or(0, |order| i64::from(order.tickets.redeemed) + entering).into(),
        order.map_or(0, |order| i64::from(order.tickets.total)).into(),
        earlier.at.into(),
        earlier.shop.into(),
        batch.stamp.at.naive_utc().into(),
    ];
    let kept = Statement::new(
        "INSERT INTO ticket_scans (project_id, order_id, scan_id, token_fingerprint, quantity, shop_id, is_dated, \
         scanned_at, user_id, outcome, redeemed_count, total_tickets, earlier_at, earlier_shop_id, created_at) VALUES ",
    )
    .tuple(values)
    .sql(" ON CONFLICT (project_id, scan_id) DO NOTHING RETURNING id");
    Ok(kept.finds(connection)?)
}

/// Counts an admission on its order. The statement repeats the guard, and a CHECK constraint enforces it.
fn count(connection: &mut AnyConnection, batch: &ScanBatch, scan: &CheckedScan, order: &Order) -> Result<(), Failed> {
    let (entering, at, now) = (i64::from(scan.scan.quantity.get()), scan.at.naive_utc(), batch.stamp.at.naive_utc());
    let counted = Statement::new("UPDATE order_tickets SET redeemed = redeemed + ")
        .value(entering)
        .sql(", last_redeemed_at = CASE WHEN last_redeemed_at > ")
        .value(at)
        .sql(" THEN last_redeemed_at ELSE ")
        .value(at)
        .sql(" END WHERE order_id = ")
        .value(order.id)
        .sql(" AND project_id = ")
        .value(batch.stamp.project_id.get())
        .sql(" AND redeemed + ")
        .value(entering)
        .sql(" <= total")
        .run(connection)?;
    let open = keyed!(orders, order.id, batch.stamp.project_id);
    let open = open.filter(orders::status_id.ne(OrderStatus::Canceled.id()));
    let noted = diesel::update(open)
        .set((orders::version.eq(orders::version + 1), orders::updated_at.eq(now)))
        .execute(connection)?;
    if (counted, noted) != (1, 1) {
        return Err(StoreError::Failed(format!("order {} changed although its row was locked", order.id)).into());
    }
    let detail = entering.to_string();
    let entry = Entry {
        project: batch.stamp.project_id.get(),
        order: order.id.into(),
        actor: batch.stamp.author,
        event: OrderEvent::TicketsRedeemed,
        status: order.status,
        detail: Some(&detail),
        changes: vec![figure("redeemed_count", order.tickets.redeemed, i64::from(order.tickets.redeemed) + entering)],
    };
    order_history::write(connection, &entry, now)
}

by_place! {
    struct ScanRow {
        id: i64,
        scan_id: String,
        fingerprint: String,
        order_id: Option<i64>,
        quantity: i64,
        shop_id: Option<i64>,
        shop: Option<String>,
        dated: bool,
        scanned_at: NaiveDateTime,
        created_at: NaiveDateTime,
        user_id: i64,
        outcome: String,
        redeemed: i64,
        total: i64,
        earlier_at: Option<NaiveDateTime>,
        earlier_shop_id: Option<i64>,
        earlier_shop: Option<String>,
    }
}

/// Returns the scans that match the condition.
fn load_scans(connection: &mut AnyConnection, condition: Statement) -> Result<Vec<ScanRow>, Failed> {
    let select = Statement::new(
        "SELECT s.id, s.scan_id, s.token_fingerprint, s.order_id, s.quantity, s.shop_id, sh.name, s.is_dated, \
         s.scanned_at, s.created_at, s.user_id, s.outcome, s.redeemed_count, s.total_tickets, s.earlier_at, s.earlier_shop_id, \
         es.name FROM ticket_scans s LEFT JOIN shops sh ON sh.id = s.shop_id AND sh.project_id = s.project_id \
         LEFT JOIN shops es ON es.id = s.earlier_shop_id AND es.project_id = s.project_id WHERE ",
    );
    Ok(select.then(condition).rows(connection)?)
}

fn by_name(connection: &mut AnyConnection, project: i64, name: &ScanId) -> Result<Option<ScanRow>, Failed> {
    let own = Statement::new("s.project_id = ").value(project).sql(" AND s.scan_id = ").value(name.as_str());
    Ok(load_scans(connection, own)?.into_iter().next())
}

/// Returns the response to a stored scan: its outcome, or the refusal that another scan has the id.
fn repeated_answer(known: ScanRow, scan: &CheckedScan) -> Result<ScanAnswer, Failed> {
    let asked = (scan.fingerprint.as_str(), i64::from(scan.scan.quantity.get()), scan.scan.shop.map(ShopId::get));
    let same = (known.fingerprint.as_str(), known.quantity, known.shop_id) == asked
        && known.dated == scan.scan.at.is_some()
        && (!known.dated || known.scanned_at == scan.at.naive_utc());
    if !same {
        return Ok(ScanAnswer::IdReused);
    }
    Ok(ScanAnswer::Judged(Box::new(known.try_into()?)))
}

impl TryFrom<ScanRow> for StoredScan {
    type Error = StoreError;

    fn try_from(row: ScanRow) -> Result<Self, StoreError> {
        let moment = |at: NaiveDateTime| -> DateTime<Utc> { decode::moment(at) };
        let earlier_shop = decode::named(row.earlier_shop_id, row.earlier_shop)?;
        Ok(Self {
            id: decode::id(row.id)?,
            scan_id: ScanId::parse(&row.scan_id).map_err(StoreError::corrupt)?,
            order: decode::optional_id(row.order_id)?,
            quantity: Quantity::new(row.quantity).map_err(StoreError::corrupt)?,
            shop: decode::named(row.shop_id, row.shop)?,
            at: moment(row.scanned_at),
            received_at: moment(row.created_at),
            user: decode::id::<UserId>(row.user_id)?,
            outcome: decode::word("ticket_scans", row.id, "outcome", &row.outcome)?,
            redeemed: pieces(row.redeemed)?,
            total: pieces(row.total)?,
            earlier: row.earlier_at.map(|at| EarlierScan { at: moment(at), shop: earlier_shop }),
        })
    }
}

/// Stores the tickets of a new order.
pub(super) fn insert(connection: &mut AnyConnection, order: &PlacedOrder, id: i64) -> QueryResult<()> {
    let tickets = order.lines.iter().filter(|line| line.is_ticket);
    let total: i64 = tickets.map(|line| i64::from(line.quantity.get())).sum();
    let Some(reference) = order.tickets.as_ref().filter(|_| total > 0) else { return Ok(()) };
    diesel::insert_into(order_tickets::table)
        .values((
            order_tickets::order_id.eq(id),
            order_tickets::project_id.eq(order.project_id.get()),
            order_tickets::reference.eq(reference.as_str()),
            order_tickets::total.eq(total),
            order_tickets::redeemed.eq(0),
        ))
        .execute(connection)?;
    Ok(())
}

/// Updates the tickets of an order after a change of its lines. The caller has locked the order.
pub(super) fn update_tickets(
    connection: &mut AnyConnection,
    project: i64,
    order: i64,
    rework: &LineChangeSet,
) -> QueryResult<()> {
    let is_new = |line: &&ChangedLine| line.id.is_none() && line.is_ticket;
    if let Some(reference) = rework.tickets.as_ref().filter(|_| rework.lines.iter().any(|line| is_new(&line))) {
        Statement::new("INSERT INTO order_tickets (order_id, project_id, reference, total, redeemed) VALUES ")
            .tuple([order.into(), project.into(), reference.as_str().into(), 0.into(), 0.into()])
            .sql(" ON CONFLICT (order_id, project_id) DO NOTHING")
            .run(connection)?;
    }
    recount(connection, project, order)
}

/// Recounts the tickets of an order after a change of its lines. The caller has locked the order.
pub(super) fn recount(connection: &mut AnyConnection, project: i64, order: i64) -> QueryResult<()> {
    Statement::new(
        "UPDATE order_tickets SET total = CAST(COALESCE((SELECT sum(r.quantity - r.refunded_quantity) FROM reservations r \
         WHERE r.project_id = order_tickets.project_id AND r.order_id = order_tickets.order_id \
         AND r.is_ticket), 0) AS BIGINT) WHERE order_id = ",
    )
    .value(order)
    .sql(" AND project_id = ")
    .value(project)
    .run(connection)?;
    Ok(())
}
