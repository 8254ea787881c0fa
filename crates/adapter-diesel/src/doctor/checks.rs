//! Comparisons of `kontor doctor`: stock, offers and the search index; money of orders (allocated, captured and
//! refunded), and their tickets.

use kontor_kernel::StoreError;

use super::{ComparisonStep, Difference, next};
use crate::database::{Abort, AnyConnection};
use crate::read_models::offers::{self, CountDifference, DifferingOffer};
use crate::read_models::search;
use crate::statement::by_place;

by_place! {
    struct StockRow {
        project: i64,
        id: i64,
        quantity: i64,
        reserved: i64,
        moved: i64,
        moved_reserved: i64,
        quantity_left: i64,
        reserved_left: i64,
        held: i64,
    }
}

pub(super) fn stock(
    connection: &mut AnyConnection,
    project: Option<i64>,
    last: i64,
) -> Result<ComparisonStep, Abort<StoreError>> {
    const MOVEMENTS: &str = "FROM stock_movements m WHERE m.project_id = t.project_id AND m.inventory_id = t.id";
    let sum = |column: &str| format!("CAST(COALESCE((SELECT sum(m.{column}) {MOVEMENTS}), 0) AS BIGINT)");
    let left = |column: &str| format!("COALESCE((SELECT m.{column} {MOVEMENTS} ORDER BY m.id DESC LIMIT 1), 0)");
    let what = format!(
        "t.project_id, t.id, t.quantity, t.reserved, {}, {}, {}, {}, CAST(COALESCE((SELECT sum(r.quantity - r.refunded_quantity) \
         FROM reservations r WHERE r.project_id = t.project_id AND r.inventory_id = t.id \
         AND r.state = 'held'), 0) AS BIGINT)",
        sum("quantity"),
        sum("reserved"),
        left("quantity_after"),
        left("reserved_after"),
    );
    let rows: Vec<StockRow> = next(&what, "inventories", project, last).rows(connection)?;
    let compare = |row: &StockRow| {
        let place = (row.project, row.id);
        [
            compared(place, "inventories.quantity", "stock_movements", row.quantity, row.moved),
            compared(place, "inventories.reserved", "stock_movements", row.reserved, row.moved_reserved),
            compared(place, "stock_movements.quantity_after", "inventories", row.quantity_left, row.quantity),
            compared(place, "stock_movements.reserved_after", "inventories", row.reserved_left, row.reserved),
            compared(place, "inventories.reserved", "reservations", row.reserved, row.held),
        ]
    };
    Ok(ComparisonStep::of(&rows, |row| row.id, rows.iter().flat_map(compare).flatten()))
}

by_place! {
    struct DiscountRow {
        project: i64,
        id: i64,
        used: i64,
        amount: i64,
        usages: i64,
        let_off: i64,
    }
}

pub(super) fn discounts(
    connection: &mut AnyConnection,
    project: Option<i64>,
    last: i64,
) -> Result<ComparisonStep, Abort<StoreError>> {
    let what = "t.project_id, t.id, t.used_count, t.used_amount, \
                (SELECT count(*) FROM discount_usages u WHERE u.project_id = t.project_id AND u.discount_id = t.id), \
                CAST(COALESCE((SELECT sum(o.promo_discount) FROM discount_usages u JOIN orders o ON o.id = u.order_id \
                AND o.project_id = u.project_id \
                WHERE u.project_id = t.project_id AND u.discount_id = t.id), 0) AS BIGINT)";
    let rows: Vec<DiscountRow> = next(what, "discounts", project, last).rows(connection)?;
    let compare = |row: &DiscountRow| {
        let place = (row.project, row.id);
        [
            compared(place, "discounts.used_count", "discount_usages", row.used, row.usages),
            compared(place, "discounts.used_amount", "orders", row.amount, row.let_off),
        ]
    };
    Ok(ComparisonStep::of(&rows, |row| row.id, rows.iter().flat_map(compare).flatten()))
}

/// Compares the offers and the search index of items with their sources.
pub(super) fn items(
    connection: &mut AnyConnection,
    project: Option<i64>,
    last: i64,
) -> Result<ComparisonStep, Abort<StoreError>> {
    let ids: Vec<i64> = next("t.id", "nomenclatures", project, last).scalars(connection)?;
    if ids.is_empty() {
        return Ok(ComparisonStep::of(&ids, |id| *id, []));
    }
    let shown: Vec<DifferingOffer> = offers::outdated_offers(&ids).rows(connection)?;
    let unfound = search::outdated_items(connection, &ids)?;
    let of_offer = |offer: &DifferingOffer| {
        let (project_id, application, id) = offer.place();
        let (stored, derived) = offer.prices();
        let (figure, source, application_id) = ("storefront_offers.price", "inventories", Some(application));
        Difference { project_id, figure, id, application_id, source, stored, derived }
    };
    let of_search = |(project_id, id): &(i64, i64)| Difference {
        project_id: *project_id,
        figure: search::SEARCH_TEXT_COLUMN,
        id: *id,
        application_id: None,
        source: "nomenclatures.name",
        stored: None,
        derived: None,
    };
    let differences = shown.iter().map(of_offer).chain(unfound.iter().map(of_search));
    Ok(ComparisonStep::of(&ids, |id| *id, differences))
}

/// Compares the offer counts of applications with their offers.
pub(super) fn counts(
    connection: &mut AnyConnection,
    project: Option<i64>,
    last: i64,
) -> Result<ComparisonStep, Abort<StoreError>> {
    let ids: Vec<i64> = next("t.id", "applications", project, last).scalars(connection)?;
    let off: Vec<CountDifference> =
        if ids.is_empty() { Vec::new() } else { offers::wrong_counts(&ids).rows(connection)? };
    let differ = |off: CountDifference| Difference {
        project_id: off.project,
        figure: "offer_counts.total",
        id: off.category,
        application_id: Some(off.application),
        source: "storefront_offers",
        stored: Some(off.kept),
        derived: Some(off.counted),
    };
    Ok(ComparisonStep::of(&ids, |id| *id, off.into_iter().map(differ)))
}

fn compared(
    (project_id, id): (i64, i64),
    figure: &'static str,
    source: &'static str,
    stored: i64,
    derived: i64,
) -> Option<Difference> {
    let (stored, derived) = (Some(stored), Some(derived));
    (stored != derived).then_some(Difference { project_id, figure, id, application_id: None, source, stored, derived })
}

by_place! {
    struct MoneyRow {
        project: i64,
        id: i64,
        price: i64,
        delivery: i64,
        captured: i64,
        refunded: i64,
        refunding: i64,
        lines: i64,
        lines_returned: i64,
        charges: i64,
        charged: i64,
        charge_refunded: i64,
        charge_refunding: i64,
        refund_sum: i64,
        on_their_way: i64,
        tickets: i64,
        tickets_of_lines: i64,
        redeemed: i64,
        entered: i64,
    }
}

impl MoneyRow {
    /// Returns the refunded part of the delivery price: refunds beyond those of the lines, at most the delivery price.
    fn delivery_returned(&self) -> i64 {
        (self.refunded + self.refunding - self.lines_returned).clamp(0, self.delivery)
    }
}

/// Compares the money and tickets of orders. An order paid in cash or at a terminal has no succeeded charge; only the order
/// itself holds its amounts.
pub(super) fn orders(
    connection: &mut AnyConnection,
    project: Option<i64>,
    last: i64,
) -> Result<ComparisonStep, Abort<StoreError>> {
    const LINES: &str = "FROM reservations r WHERE r.project_id = t.project_id AND r.order_id = t.id";
    const CHARGES: &str = "FROM charges c WHERE c.purpose = 'order' AND c.purpose_id = t.id \
        AND c.project_id = t.project_id AND c.state = 'succeeded'";
    const TICKETS: &str = "FROM order_tickets k WHERE k.project_id = t.project_id AND k.order_id = t.id";
    const REFUNDS: &str = "FROM order_refunds f WHERE f.project_id = t.project_id AND f.order_id = t.id";
    let sum = |column: &str, rows: &str| format!("CAST(COALESCE((SELECT sum({column}) {rows}), 0) AS BIGINT)");
    let what = [
        "t.project_id, t.id, t.final_price, t.delivery_price, t.captured, t.refunded, t.refunding".to_owned(),
        sum("r.total", LINES),
        sum("r.refunded_amount", LINES),
        format!("(SELECT count(*) {CHARGES})"),
        sum("c.captured", CHARGES),
        sum("c.refunded", CHARGES),
        sum("c.refunding", CHARGES),
        sum("f.amount", &format!("{REFUNDS} AND f.state = 'succeeded'")),
        sum("f.amount", &format!("{REFUNDS} AND f.state = 'pending'")),
        sum("k.total", TICKETS),
        sum("r.quantity - r.refunded_quantity", &format!("{LINES} AND r.is_ticket")),
        sum("k.redeemed", TICKETS),
        sum(
            "s.quantity",
            "FROM ticket_scans s WHERE s.project_id = t.project_id AND s.order_id = t.id AND s.outcome = 'admitted'",
        ),
    ];
    let rows: Vec<MoneyRow> = next(&what.join(", "), "orders", project, last).rows(connection)?;
    let compare = |row: &MoneyRow| {
        let place = (row.project, row.id);
        let by_charge =
            |what, own, charge| if row.charges == 0 { None } else { compared(place, what, "charges", own, charge) };
        [
            compared(place, "orders.final_price", "reservations", row.price, row.lines),
            compared(
                place,
                "orders.refunded + refunding",
                "reservations, orders.delivery_price",
                row.refunded + row.refunding,
                row.lines_returned + row.delivery_returned(),
            ),
            by_charge("orders.captured", row.captured, row.charged),
            by_charge("orders.refunded", row.refunded, row.charge_refunded),
            by_charge("orders.refunding", row.refunding, row.charge_refunding),
            compared(place, "orders.refunded", "order_refunds", row.refunded, row.refund_sum),
            compared(place, "orders.refunding", "order_refunds", row.refunding, row.on_their_way),
            compared(place, "order_tickets.total", "reservations", row.tickets, row.tickets_of_lines),
            compared(place, "order_tickets.redeemed", "ticket_scans", row.redeemed, row.entered),
        ]
    };
    Ok(ComparisonStep::of(&rows, |row| row.id, rows.iter().flat_map(compare).flatten()))
}
