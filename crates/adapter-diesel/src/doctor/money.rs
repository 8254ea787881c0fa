//! Money of orders (allocated, captured and refunded), and their tickets.

use kontor_kernel::StoreError;

use super::checks::compared;
use super::{ComparisonStep, next};
use crate::database::{Abort, AnyConnection};
use crate::statement::by_place;

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
        told: i64,
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

/// Compares the money and tickets of orders. An order marked as paid by hand has no succeeded charge; only the order
/// itself holds its amounts.
pub(super) fn orders(
    connection: &mut AnyConnection,
    project: Option<i64>,
    last: i64,
) -> Result<ComparisonStep, Abort<StoreError>> {
    const LINES: &str = "FROM reservations r WHERE r.order_id = t.id";
    const CHARGES: &str = "FROM charges c WHERE c.purpose = 'order' AND c.purpose_id = t.id AND c.state = 'succeeded'";
    const TICKETS: &str = "FROM order_tickets k WHERE k.order_id = t.id";
    const REFUNDS: &str = "FROM order_refunds f WHERE f.order_id = t.id";
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
        sum("s.quantity", "FROM ticket_scans s WHERE s.order_id = t.id AND s.outcome = 'admitted'"),
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
            compared(place, "orders.refunded", "order_refunds", row.refunded, row.told),
            compared(place, "orders.refunding", "order_refunds", row.refunding, row.on_their_way),
            compared(place, "order_tickets.total", "reservations", row.tickets, row.tickets_of_lines),
            compared(place, "order_tickets.redeemed", "ticket_scans", row.redeemed, row.entered),
        ]
    };
    Ok(ComparisonStep::of(&rows, |row| row.id, rows.iter().flat_map(compare).flatten()))
}
