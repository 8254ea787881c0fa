use kontor_kernel::{NomenclatureId, OrderId, Permission, Resource, Staff, Stamp, StoreError};
use kontor_payments::model::{Charge, ChargePurpose};
use kontor_payments::{CancelOutcome, PaymentRequested};
use uuid::Uuid;

use super::decide::{Terms, decide, renewed_payment};
use super::preview::OrderPreview;
use super::{EditMode, LineCommand, LineEdit, LinesRefused};
use crate::change::{LineChangeSet, OrderUpdate, OrderedRefund};
use crate::error::{OrderError, OrderRefusal};
use crate::model::{Order, PromoCode};
use crate::placement::{CartSnapshot, MAX_ATTEMPTS, PlacementService};
use crate::ports::{CartQuery, Decision, SalesPoint};
use crate::tickets::TicketReference;

/// Outcome of a change of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinesChanged {
    /// The order after the change.
    Done(Order),
    /// The lines are changed; the outcome of the new payment request is still unknown.
    PaymentOutcomeUnknown(Order),
    /// The acquirer refused the payment of the new sum. The order is canceled; its stock and promo use are
    /// returned.
    PaymentRefused {
        /// Reason given by the acquirer, for the log.
        reason: String,
    },
}

/// Data that a change is decided from.
struct ChangeInputs {
    snapshot: CartSnapshot,
    items: Vec<NomenclatureId>,
    promo: Option<String>,
    standing: EditMode,
}

/// Attempts to request the payment again while the storage fails.
const MAX_RECOVERIES: u32 = 3;

const REASON: &str = "The lines of the order have changed.";

fn refuse<T>(refused: LinesRefused) -> Result<T, OrderError> {
    Err(OrderRefusal::from(refused).into())
}

impl PlacementService {
    /// Changes a line of an order, adds one, or removes one. An open payment is canceled at the acquirer first,
    /// and a payment of the new sum is requested. If it cannot be canceled, nothing changes.
    pub async fn change_lines(
        &self,
        staff: &Staff,
        id: OrderId,
        command: &LineCommand,
    ) -> Result<LinesChanged, OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        let mut taken_back = false;
        let outcome = self.change_with_retries(staff, id, command, &mut taken_back).await;
        // The order keeps its lines and gets a new payment of the old sum.
        match outcome {
            Err(OrderError::Refused(refused)) if taken_back => {
                self.renew_payment(staff, id).await?;
                Err(refused.into())
            }
            Err(OrderError::Store(error)) if taken_back => {
                self.recover_payment(staff, id).await;
                Err(error.into())
            }
            outcome => outcome,
        }
    }

    /// Returns the effect of a change without writing it.
    pub async fn preview_lines(
        &self,
        staff: &Staff,
        id: OrderId,
        command: &LineCommand,
    ) -> Result<(Order, OrderPreview), OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        let order = staff.require_own(self.orders.find(id).await?)?;
        let seen = self.load(staff, &order, command.edit).await?;
        let decided = decide(&order, &seen.snapshot, command, &self.terms(&seen.items, Uuid::nil()))?;
        if order.payment_open && decided.rework.is_some() {
            let open = self.charges.charges.open_for(ChargePurpose::Order(id)).await?;
            if open.is_none_or(|charge| charge.provider_id.is_none()) {
                return refuse(LinesRefused::PaymentOutcomeUnknown);
            }
        }
        let preview = OrderPreview::of(&order, &decided);
        Ok((order, preview))
    }

    async fn change_with_retries(
        &self,
        staff: &Staff,
        id: OrderId,
        command: &LineCommand,
        taken_back: &mut bool,
    ) -> Result<LinesChanged, OrderError> {
        let mut standing = None;
        for _ in 0..MAX_ATTEMPTS {
            let order = staff.require_own(self.orders.find(id).await?)?;
            let seen = self.load(staff, &order, command.edit).await?;
            if *standing.get_or_insert(seen.standing) != seen.standing {
                return refuse(LinesRefused::ChangedMeanwhile);
            }
            let decided = decide(&order, &seen.snapshot, command, &self.terms(&seen.items, Uuid::nil()))?;
            if decided.is_empty() {
                return Ok(LinesChanged::Done(order));
            }
            if order.payment_open && seen.standing == EditMode::Unpaid {
                let outcome = self.cancel_open_payment(id).await;
                *taken_back = !matches!(outcome, Err(OrderError::Refused(_)));
                outcome?;
                continue;
            }
            match self.store.change(id, self.decision(staff, seen, command.clone())).await {
                Ok(charge) => return self.changed(staff, id, charge).await,
                Err(OrderError::Refused(OrderRefusal::Lines(LinesRefused::Stale))) => {}
                Err(error) => return Err(error),
            }
        }
        refuse(LinesRefused::Stale)
    }

    async fn load(&self, staff: &Staff, order: &Order, edit: LineEdit) -> Result<ChangeInputs, OrderError> {
        let standing = EditMode::of(order).map_err(OrderRefusal::from)?;
        let mut items: Vec<NomenclatureId> = match edit {
            LineEdit::Remove { line } => {
                order.lines.iter().filter(|known| known.id != line).map(|line| line.item.id).collect()
            }
            LineEdit::Set { .. } => order.lines.iter().map(|line| line.item.id).collect(),
            LineEdit::Add { item, .. } => {
                order.lines.iter().map(|line| line.item.id).chain(std::iter::once(item)).collect()
            }
        };
        items.sort_unstable();
        items.dedup();
        let promo = order.promo_code.clone();
        let snapshot = if standing == EditMode::Paid {
            CartSnapshot::default()
        } else {
            let parsed = promo.as_deref().map(PromoCode::parse).transpose().map_err(StoreError::corrupt)?;
            let application_id = order.application.as_ref().map(|application| application.id);
            let query = CartQuery {
                point: SalesPoint { project_id: staff.project_id, application_id },
                customer: Some(order.customer.id),
                items: items.clone(),
                promo: parsed,
                delivery: None,
                by_staff: false,
            };
            self.carts.snapshot(query).await?
        };
        Ok(ChangeInputs { snapshot, items, promo, standing })
    }

    fn terms<'a>(&'a self, items: &'a [NomenclatureId], key: Uuid) -> Terms<'a> {
        Terms { items, allocation: &*self.allocation, key, return_url: &self.page.return_url, at: self.clock.now() }
    }

    async fn cancel_open_payment(&self, id: OrderId) -> Result<(), OrderError> {
        // A charge that has ended in the meantime shows in the next read of the order.
        let Some(charge) = self.charges.charges.open_for(ChargePurpose::Order(id)).await? else { return Ok(()) };
        match self.charges.withdraw(&charge).await? {
            CancelOutcome::Settled => Ok(()),
            CancelOutcome::Refused { .. } => refuse(LinesRefused::PaymentOpen),
            CancelOutcome::OutcomeUnknown { .. } => refuse(LinesRefused::PaymentOutcomeUnknown),
        }
    }

    /// Decides again on the order as read under its lock.
    fn decision(&self, staff: &Staff, seen: ChangeInputs, command: LineCommand) -> Decision {
        let (key, at) = (self.random.uuid(), self.clock.now());
        let (stamp, editor) = (Stamp::of(staff, at), staff.clone());
        let (allocation, return_url) = (self.allocation.clone(), self.page.return_url.clone());
        let has_tickets = seen.snapshot.items.iter().any(|item| item.is_ticket);
        let tickets = has_tickets.then(|| TicketReference::generate(&*self.random));
        Box::new(move |found| {
            let order = editor.require_own(Some(found))?;
            if EditMode::of(&order).map_err(OrderRefusal::from)? != seen.standing {
                return refuse(LinesRefused::ChangedMeanwhile);
            }
            if seen.standing == EditMode::Unpaid && (order.payment_open || order.promo_code != seen.promo) {
                return refuse(LinesRefused::Stale);
            }
            let terms = Terms { items: &seen.items, allocation: &*allocation, key, return_url: &return_url, at };
            let decided = decide(&order, &seen.snapshot, &command, &terms)?;
            if decided.is_empty() {
                return refuse(LinesRefused::Stale);
            }
            let reason = command.reason.as_ref().map_or_else(|| REASON.to_owned(), ToString::to_string);
            let restock = command.restock.unwrap_or(true);
            let transition = decided.refund.as_ref().and_then(|refund| refund.transition);
            let refund =
                decided.refund.map(|decided| OrderedRefund { key, decided, reason, restock, ends_period: false });
            let payment = decided.payment;
            let rework = decided.rework.map(|rework| LineChangeSet { tickets: tickets.clone(), ..rework });
            Ok(OrderUpdate { transition, refund, rework, payment, ..OrderUpdate::of(stamp) })
        })
    }

    /// Requests the canceled payment again after the storage failed during the change. If the storage keeps
    /// failing, the order stays without a payment until the next change or the worker finds it.
    async fn recover_payment(&self, staff: &Staff, id: OrderId) {
        for _ in 0..MAX_RECOVERIES {
            if !matches!(self.check_and_renew(staff, id).await, Err(OrderError::Store(_))) {
                break;
            }
        }
    }

    /// The failed write may be the record of the cancellation: then the charge still looks open.
    async fn check_and_renew(&self, staff: &Staff, id: OrderId) -> Result<(), OrderError> {
        if let Some(charge) = self.charges.charges.open_for(ChargePurpose::Order(id)).await? {
            self.charges.check_now(&charge).await?;
        }
        self.renew_payment(staff, id).await
    }

    /// Requests a new payment after the old one was canceled for a change that was not made.
    async fn renew_payment(&self, staff: &Staff, id: OrderId) -> Result<(), OrderError> {
        let order = staff.require_own(self.orders.find(id).await?)?;
        let Some(first) = order.lines.first().map(|line| line.id) else { return Ok(()) };
        if EditMode::of(&order) != Ok(EditMode::Unpaid) || order.payment_open {
            return Ok(());
        }
        let seen = self.load(staff, &order, LineEdit::Set { line: first, quantity: None, price: None }).await?;
        let (key, at) = (self.random.uuid(), self.clock.now());
        let (stamp, editor, return_url) = (Stamp::of(staff, at), staff.clone(), self.page.return_url.clone());
        let allocation = self.allocation.clone();
        let decide = move |found| {
            let order = editor.require_own(Some(found))?;
            let terms = Terms { items: &seen.items, allocation: &*allocation, key, return_url: &return_url, at };
            let payment = renewed_payment(&order, &seen.snapshot, &terms).map_err(OrderRefusal::from)?;
            if payment.is_none() {
                refuse(LinesRefused::ChangedMeanwhile)
            } else {
                Ok(OrderUpdate { payment, ..OrderUpdate::of(stamp) })
            }
        };
        match self.store.change(id, Box::new(decide)).await {
            Ok(Some(charge)) => {
                // The order shows the outcome.
                self.charges.open(&charge).await?;
                Ok(())
            }
            Ok(None) | Err(OrderError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn changed(&self, staff: &Staff, id: OrderId, charge: Option<Charge>) -> Result<LinesChanged, OrderError> {
        let opened = match charge {
            None => None,
            Some(charge) => Some(self.charges.open(&charge).await),
        };
        let found = self.orders.find(id).await.map_err(StoreError::after_commit)?;
        let order = staff.require_own(found)?;
        Ok(match opened {
            None | Some(Ok(PaymentRequested::Known)) => LinesChanged::Done(order),
            // The change is committed: a storage error now must not look like a failed change.
            Some(Ok(PaymentRequested::OutcomeUnknown) | Err(_)) => LinesChanged::PaymentOutcomeUnknown(order),
            Some(Ok(PaymentRequested::Refused { reason })) => LinesChanged::PaymentRefused { reason },
        })
    }
}
