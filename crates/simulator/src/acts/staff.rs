//! Staff move orders, change them, refund money, manage stock and scan tickets.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use kontor_catalog::model::{StockChange, StockLevel};
use kontor_catalog::spreadsheet::ports::{RowSink, SheetReader, StockSheetRepository as _};
use kontor_catalog::spreadsheet::{Cell, ImportMode, SheetError, SheetRow, StockSheet};
use kontor_kernel::{Clock as _, Edit, Line, Money, Quantity, Stamp};
use kontor_orders::OrderChange;
use kontor_orders::lines::{LineCommand, LineEdit, LinesChanged};
use kontor_orders::model::{Order, OrderStatus};
use kontor_orders::refund::{RefundCommand, RefundLine, RefundScope};
use kontor_orders::tickets::{Scan, ScanAnswer, ScanId, ScanOutcome};

use super::{Act, ActResult, Effect, Scene};
use crate::invariants;

fn reported(order: &Order) -> String {
    format!("order {} is {}, captured {:?}, back {:?}", order.id, order.status, order.captured, order.refunded)
}

/// Moves an order to another status, or cancels it.
pub fn moves(mut scene: Scene) -> Act {
    Box::pin(async move {
        let Some(order) = scene.some_order().await else { return ActResult::nothing("moves an order") };
        let to = match scene.rng.below(10) {
            0 | 1 => OrderStatus::InProcessing,
            2 | 3 => OrderStatus::ReadyForPickup,
            4..7 => OrderStatus::Issued,
            7 => OrderStatus::Paid,
            _ => OrderStatus::Canceled,
        };
        let change = OrderChange { status: Edit::Set(to), ..OrderChange::default() };
        ActResult::of(
            "moves an order",
            scene.services.orders.update(&scene.merchant.staff, order.id, change).await,
            reported,
        )
    })
}

/// Refunds an order: all of it, some units, the delivery, or an amount. Often the same refund is requested twice at
/// once.
pub fn gives_back(mut scene: Scene) -> Act {
    Box::pin(async move {
        let Some(order) = scene.some_order().await else { return ActResult::nothing("gives back") };
        let line = scene.rng.one_of(&order.lines).filter(|_| scene.rng.percent(60));
        let lines = line.map(|line| {
            let pieces = 1 + scene.rng.below(u64::from(line.quantity.get()));
            vec![RefundLine { line: line.id, quantity: Quantity::new(i64::try_from(pieces).unwrap()).unwrap() }]
        });
        let amount = (lines.is_none() && scene.rng.percent(50))
            .then(|| Money::from_minor(1 + i64::try_from(scene.rng.below(9_000)).unwrap()).unwrap());
        let delivery = amount.is_none() && scene.rng.percent(20);
        let everything = lines.is_none() && amount.is_none() && !delivery;
        let command = RefundCommand {
            scope: RefundScope::of(everything, delivery, lines, amount).unwrap(),
            reason: Line::parse("broken").unwrap(),
            restock: scene.rng.percent(70),
            ends_period: scene.rng.percent(10),
        };
        ActResult::of(
            "gives back",
            scene.services.orders.refund(&scene.merchant.staff, order.id, command).await,
            reported,
        )
    })
}

/// Changes the lines of an order.
pub fn changes_lines(mut scene: Scene) -> Act {
    Box::pin(async move {
        let Some(order) = scene.some_order().await else { return ActResult::nothing("changes lines") };
        let Some(line) = scene.rng.one_of(&order.lines) else { return ActResult::nothing("changes lines") };
        let pieces = Quantity::new(1 + i64::try_from(scene.rng.below(5)).unwrap()).unwrap();
        let edit = match scene.rng.below(5) {
            0 => LineEdit::Remove { line: line.id },
            1 => {
                let item = scene.rng.one_of(&scene.merchant.items).unwrap();
                LineEdit::Add { item, quantity: pieces, price: None }
            }
            2 => {
                let price = Money::from_minor(5_000 + i64::try_from(scene.rng.below(9_000)).unwrap()).ok();
                LineEdit::Set { line: line.id, quantity: None, price }
            }
            _ => LineEdit::Set { line: line.id, quantity: Some(pieces), price: None },
        };
        let command = LineCommand { edit, restock: None, reason: None };
        let changed = scene.services.placement.change_lines(&scene.merchant.staff, order.id, &command).await;
        ActResult::of("changes lines", changed, |changed| match changed {
            LinesChanged::Done(order) => reported(order),
            LinesChanged::PaymentOutcomeUnknown(order) => format!("{}, payment unclear", reported(order)),
            LinesChanged::PaymentRefused { reason } => format!("the payment is refused: {reason}"),
        })
    })
}

/// Corrects a stock level or a price.
pub fn corrects_stock(mut scene: Scene) -> Act {
    Box::pin(async move {
        let id = scene.rng.one_of(&scene.merchant.stock).unwrap();
        let pieces = i64::try_from(scene.rng.below(40)).unwrap();
        let price = Money::from_minor(5_000 + i64::try_from(scene.rng.below(20_000)).unwrap()).unwrap();
        let change = match scene.rng.below(4) {
            0 => StockChange { price: Edit::Set(price), ..StockChange::default() },
            _ => StockChange { quantity: Edit::Set(StockLevel::new(pieces).unwrap()), ..StockChange::default() },
        };
        let set = scene.services.inventories.set_stock(&scene.merchant.staff, id, change).await;
        ActResult::of("corrects stock", set, |kept| {
            format!("{} lie there, {} reserved", kept.quantity.get(), kept.reserved.get())
        })
    })
}

/// A spreadsheet in memory: one row a line, cells separated by `;`.
struct Rows(String);

impl SheetReader for Rows {
    fn read(&self, _: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        for (number, line) in (1..).zip(self.0.lines()) {
            sink(SheetRow::new(number, line.split(';').map(|text| Cell::Text(text.to_owned())).collect()))?;
        }
        Ok(())
    }
}

/// Imports a delivery from a spreadsheet.
pub fn imports_stock(mut scene: Scene) -> Act {
    Box::pin(async move {
        let (merchant, rng) = (scene.merchant.clone(), &mut scene.rng);
        let mut rows = "article;warehouse;quantity\n".to_owned();
        for article in &merchant.articles {
            if rng.percent(70) {
                let _ = writeln!(rows, "{article};{};{}", merchant.warehouse, 10 + rng.below(40));
            }
        }
        let sheet = Arc::new(StockSheet::read(&Rows(rows), Path::new(""), 1_000).unwrap());
        let stamp = Stamp::of(&merchant.staff, scene.services.clock.now());
        let report = scene.services.database.upload(stamp, sheet, ImportMode::Partial).await;
        ActResult::of("imports stock", report, |report| {
            format!("{} changed, {} skipped", report.updated, report.skipped)
        })
    })
}

/// Scans a ticket at the door, sometimes again under the same name.
pub fn scans(mut scene: Scene, name: u64) -> Act {
    Box::pin(async move {
        let Some(order) = scene.some_order().await else { return ActResult::nothing("scans") };
        let Some(reference) = order.tickets.reference.as_ref() else { return ActResult::nothing("scans") };
        let services = &scene.services;
        let token = services.tickets.tokens.token(scene.merchant.app.project_id, reference);
        let quantity = Quantity::new(1 + i64::try_from(scene.rng.below(2)).unwrap()).unwrap();
        let id = ScanId::parse(&format!("scan-{name}")).unwrap();
        let scan = Scan { id, token, quantity, shop: None, at: None };
        let first = services.tickets.redeem_one(&scene.merchant.staff, scan.clone()).await;
        let outcome = |answer: &ScanAnswer| match answer {
            ScanAnswer::Judged(kept) => Some((kept.outcome, kept.redeemed)),
            _ => None,
        };
        let did = ActResult::of("scans", first.as_ref().map(outcome), |seen| format!("order {}: {seen:?}", order.id));
        if scene.rng.percent(50) {
            return did;
        }
        let again = services.tickets.redeem_one(&scene.merchant.staff, scan).await;
        let (first, again) = (first.ok().as_ref().and_then(outcome), again.ok().as_ref().and_then(outcome));
        let same: Option<(ScanOutcome, u32)> = again;
        if first == same { did } else { broken(did, format!("a scan has two answers: {first:?}, {same:?}")) }
    })
}

fn broken(did: ActResult, why: String) -> ActResult {
    ActResult { effect: Effect::Broken(invariants::ONE_EFFECT_PER_KEY, why), ..did }
}
