//! Scans of tickets in memory.

use async_trait::async_trait;
use kontor_kernel::history::{Author, HistoryAction};
use kontor_kernel::{Named, OrderId, Page, PageRequest, ShopId, StoreError};

use super::{Guard, InMemoryOrders, PICKUP, State};
use crate::audit::figure;
use crate::charge_outcome::EffectEntry;
use crate::model::OrderEvent;
use crate::ports::TicketStore;
use crate::tickets::{
    CheckedScan, EarlierScan, ScanAnswer, ScanBatch, ScanOutcome, StoredScan, TicketOrder, scan_outcome,
};

/// Judged scan, with the request that it answers.
#[derive(Clone)]
pub(super) struct KnownScan {
    asked: CheckedScan,
    judged: StoredScan,
}

impl KnownScan {
    /// Returns `true` if this is the same scan, sent again.
    fn is_of(&self, scan: &CheckedScan) -> bool {
        let asked = |scan: &CheckedScan| (scan.fingerprint.clone(), scan.scan.quantity, scan.scan.shop, scan.scan.at);
        asked(&self.asked) == asked(scan)
    }
}

impl State {
    fn redeem(&mut self, batch: &ScanBatch, scan: &CheckedScan) -> Result<ScanAnswer, StoreError> {
        let Author::User(user) = batch.stamp.author else {
            return Err(StoreError::Failed("only employees scan tickets".to_owned()));
        };
        if scan.scan.shop.is_some_and(|shop| shop.get() != PICKUP.1) {
            return Ok(ScanAnswer::UnknownShop);
        }
        let known = self.scans.iter().find(|known| known.asked.scan.id == scan.scan.id);
        if let Some(known) = known.filter(|_| self.guards.has(Guard::Scan)) {
            let judged = known.judged.clone();
            return Ok(if known.is_of(scan) { ScanAnswer::Judged(Box::new(judged)) } else { ScanAnswer::IdReused });
        }
        let order = self.ticketed(scan);
        let mut facts = order.and_then(|id| self.orders.get(&id)).map(TicketOrder::from);
        if let Some(facts) = facts.as_mut().filter(|_| !self.guards.has(Guard::Tickets)) {
            facts.redeemed = 0;
        }
        let (quantity, shop, now) = (scan.scan.quantity, scan.scan.shop, batch.stamp.at);
        let outcome = scan_outcome(facts.as_ref(), quantity, shop, scan.at, now, &batch.terms);
        let earlier = match (order, outcome) {
            (Some(order), ScanOutcome::AlreadyRedeemed | ScanOutcome::TooMany) => self.last_admission(order),
            _ => None,
        };
        if let (Some(order), ScanOutcome::Admitted) = (order, outcome) {
            self.admit_people(order, batch, scan);
        }
        let tickets = order.and_then(|id| self.orders.get(&id)).map(|order| order.tickets.clone()).unwrap_or_default();
        let judged = StoredScan {
            id: self.ids.id(),
            scan_id: scan.scan.id.clone(),
            order,
            quantity,
            shop: shop.map(shop_named),
            at: scan.at,
            received_at: now,
            user,
            outcome,
            redeemed: tickets.redeemed,
            total: tickets.total,
            earlier,
        };
        self.scans.push(KnownScan { asked: scan.clone(), judged: judged.clone() });
        Ok(ScanAnswer::Judged(Box::new(judged)))
    }

    /// Order with the scanned ticket.
    fn ticketed(&self, scan: &CheckedScan) -> Option<OrderId> {
        let reference = scan.reference.as_ref()?;
        let found = self.orders.values().find(|order| order.tickets.reference.as_ref() == Some(reference));
        found.map(|order| order.id)
    }

    fn last_admission(&self, order: OrderId) -> Option<EarlierScan> {
        let judged = self.scans.iter().map(|known| &known.judged);
        let own = judged.filter(|scan| scan.order == Some(order) && scan.outcome == ScanOutcome::Admitted);
        own.max_by_key(|scan| (scan.at, scan.id)).map(|scan| EarlierScan { at: scan.at, shop: scan.shop.clone() })
    }

    /// Counts an admission on its order.
    fn admit_people(&mut self, id: OrderId, batch: &ScanBatch, scan: &CheckedScan) {
        let Some(order) = self.orders.get_mut(&id) else { return };
        let (count, before) = (scan.scan.quantity.get(), order.tickets.redeemed);
        order.tickets.redeemed += count;
        order.tickets.last_redeemed_at = order.tickets.last_redeemed_at.max(Some(scan.at));
        order.version += 1;
        order.updated_at = batch.stamp.at;
        let entry = EffectEntry {
            event: OrderEvent::TicketsRedeemed,
            status: order.status,
            detail: Some(count.to_string()),
            changes: figure("redeemed_count", before, order.tickets.redeemed).into_iter().collect(),
        };
        self.log(id, HistoryAction::Changed, batch.stamp.author, entry, batch.stamp.at);
    }
}

fn shop_named(id: ShopId) -> Named<ShopId> {
    Named { id, name: "Shop".to_owned() }
}

#[async_trait]
impl TicketStore for InMemoryOrders {
    async fn redeem(&self, batch: ScanBatch) -> Result<Vec<ScanAnswer>, StoreError> {
        self.write(|state| batch.scans.iter().map(|scan| state.redeem(&batch, scan)).collect())
    }

    async fn of_order(&self, order: OrderId, page: PageRequest) -> Result<Page<StoredScan>, StoreError> {
        let newest = self.state.with(|state| {
            let judged = state.scans.iter().rev().map(|known| &known.judged);
            judged.filter(|scan| scan.order == Some(order)).cloned().collect()
        });
        Ok(Page::of(newest, page))
    }
}
