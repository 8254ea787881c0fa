//! History of a stock level: its movements.

use chrono::NaiveDateTime;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamp};
use kontor_catalog::model::{StockEntry, StockReason, StockSource};
use kontor_kernel::history::{FieldChange, HistoryAction, HistoryEntry};
use kontor_kernel::{InventoryId, Page, PageRequest, ProjectId, StoreError, Word as _};

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::histories::{ACTORS_OF_PAGE, AUTHOR_NAMES};
use crate::statement::{Statement, by_place};
use crate::unreadable;

by_place! {
    struct CountRow {
        count: i64 as BigInt,
    }
}

by_place! {
    struct MovementRow {
        id: i64 as BigInt,
        quantity: i64 as BigInt,
        reserved: i64 as BigInt,
        quantity_after: i64 as BigInt,
        reserved_after: i64 as BigInt,
        price_before: Option<i64> as Nullable<BigInt>,
        price_after: Option<i64> as Nullable<BigInt>,
        reason: String as Text,
        is_first: bool as Bool,
        source: Option<String> as Nullable<Text>,
        source_id: Option<i64> as Nullable<BigInt>,
        comment: Option<String> as Nullable<Text>,
        actor: String as Text,
        actor_id: Option<i64> as Nullable<BigInt>,
        user_name: Option<String> as Nullable<Text>,
        customer_name: Option<String> as Nullable<Text>,
        created_at: NaiveDateTime as Timestamp,
    }
}

fn figure(field: &str, change: i64, after: i64, is_new: bool) -> Option<FieldChange> {
    let changed = is_new || change != 0;
    let old = (!is_new).then(|| (after - change).to_string());
    changed.then(|| FieldChange { field: field.to_owned(), old, new: Some(after.to_string()) })
}

fn price(before: Option<i64>, after: Option<i64>) -> Result<Option<FieldChange>, StoreError> {
    let Some(after) = after else { return Ok(None) };
    let text = |minor: i64| decode::money(minor).map(|price| price.to_string());
    let (old, new) = (before.map(text).transpose()?, Some(text(after)?));
    Ok(Some(FieldChange { field: "price".to_owned(), old, new }))
}

fn source(row: &MovementRow) -> Result<Option<StockSource>, StoreError> {
    match (row.source.as_deref(), row.source_id) {
        (None, None) => Ok(None),
        (Some("order"), Some(id)) => Ok(Some(StockSource::Order(decode::id(id)?))),
        (Some("job"), Some(id)) => Ok(Some(StockSource::Job(decode::id(id)?))),
        (kind, _) => Err(decode::unknown("stock_movements", row.id, "source", kind.unwrap_or_default())),
    }
}

impl TryFrom<MovementRow> for StockEntry {
    type Error = StoreError;

    fn try_from(row: MovementRow) -> Result<Self, StoreError> {
        let reason = StockReason::from_word(&row.reason);
        let reason = reason.ok_or_else(|| decode::unknown("stock_movements", row.id, "reason", &row.reason))?;
        let is_new = matches!(reason, StockReason::Opening | StockReason::Creation)
            || reason == StockReason::Upload && row.is_first;
        let source = source(&row)?;
        let comment = decode::optional_text(row.comment.as_deref())?;
        let author = decode::author("stock_movements", row.id, &row.actor, row.actor_id)?;
        let changes = [
            figure("quantity", row.quantity, row.quantity_after, is_new),
            figure("reserved", row.reserved, row.reserved_after, false),
            price(row.price_before, row.price_after)?,
        ];
        let line = HistoryEntry {
            id: row.id,
            action: if is_new { HistoryAction::Created } else { HistoryAction::Changed },
            author,
            author_name: decode::author_name(author, row.user_name, row.customer_name),
            changes: changes.into_iter().flatten().collect(),
            at: decode::moment(row.created_at),
        };
        Ok(Self { line, reason, source, comment })
    }
}

/// Returns one page of the movements of a stock level, latest first.
pub(crate) fn history(
    connection: &mut AnyConnection,
    project: ProjectId,
    id: InventoryId,
    page: PageRequest,
) -> Result<Page<StockEntry>, Abort<StoreError>> {
    let of_record = || {
        Statement::new(" FROM stock_movements m WHERE m.project_id = ")
            .value(project.get())
            .sql(" AND m.inventory_id = ")
            .value(id.get())
    };
    let CountRow { count } = Statement::new("SELECT count(*)").then(of_record()).row(connection)?;
    // Names are loaded for the entries of the page only.
    let rows: Vec<MovementRow> = Statement::new(format!(
        "SELECT p.id, p.quantity, p.reserved, p.quantity_after, p.reserved_after, p.price_before, p.price_after, \
         p.reason, NOT EXISTS (SELECT 1 FROM stock_movements f WHERE f.project_id = p.project_id \
         AND f.inventory_id = p.inventory_id AND f.id < p.id) AS is_first, p.source, p.source_id, p.comment, p.actor, p.actor_id, \
         {AUTHOR_NAMES}, p.created_at FROM (SELECT m.*"
    ))
    .then(of_record())
    .sql(" ORDER BY m.id DESC LIMIT ")
    .value(page.limit())
    .sql(" OFFSET ")
    .value(page.offset())
    .sql(format!(") p{ACTORS_OF_PAGE} ORDER BY p.id DESC"))
    .rows(connection)?;
    Ok(decode::page(unreadable::rows("stock_movements", rows, |row| row.id, StockEntry::try_from)?, count, page)?)
}
