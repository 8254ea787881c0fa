//! The acquirer's state: payments, refunds, saved methods, idempotence keys and deadlines of one shop.

use std::collections::VecDeque;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::api::Refusal;
use super::idempotence::{Fingerprint, Keys};
use super::method::{Ending, Method, SavedMethod, Script, Step};
use super::order::{BindingOrder, PaymentOrder, RefundOrder, Source};
use super::page::Act;
use super::payment::{CONFIRMATION_WINDOW, Payment, Refund, RefundStatus, Status};
use super::receipt::{About, AttachedReceipt, Receipt, ReceiptOrder, Registration};
use super::view::{self, Amount};
use crate::faults::FaultKind;
use crate::state::{Bounded, IdGenerator};

/// The one shop the acquirer serves.
pub struct Shop {
    pub id: String,
    pub gateway_id: &'static str,
    pub secret_key: String,
    /// `true` if the secret key is that of a demo shop.
    pub test: bool,
    pub saving_allowed: bool,
    /// URL of the sandbox's pages, without a trailing slash.
    pub url: String,
}

impl Shop {
    /// Returns the URL of the page where the payer confirms.
    pub fn page_url(&self, page: &str, id: &str) -> String {
        format!("{}/{page}/{id}", self.url)
    }
}

/// Reference to an object of the acquirer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    Payment(String),
    Refund(String),
    Method(String),
    Receipt(String),
}

/// An event the shop is notified of.
pub struct Event {
    pub name: &'static str,
    pub object_id: String,
    /// Snapshot of the object at that time.
    pub object: Value,
    /// Fault of its notifications, regardless of the planned faults.
    pub fault: Option<FaultKind>,
    /// `true` if the notification is sent before the response to the request that causes it.
    pub comes_first: bool,
    /// Content of an out-of-order notification: event name and an earlier snapshot.
    pub stale: (&'static str, Value),
}

/// The acquirer's state.
pub struct Ledger {
    pub shop: Arc<Shop>,
    pub(super) chance: Arc<IdGenerator>,
    pub payments: Bounded<Payment>,
    pub refunds: Bounded<Refund>,
    pub methods: Bounded<SavedMethod>,
    pub receipts: Bounded<Receipt>,
    keys: Keys<Result<Object, Refusal>>,
    /// Objects that wait for the payer or the bank.
    to_confirm: Deadlines,
    /// Payments that wait for the shop.
    to_capture: Deadlines,
    /// Final status of new refunds.
    pub refunds_end: RefundStatus,
    /// `true` if payments that wait for the payer can be canceled. YooKassa cancels only held payments, other
    /// acquirers any.
    pub cancels_unpaid: bool,
    /// `true` if the shop is notified of the effect of a request before the response.
    pub notifies_first: bool,
    /// Registration status that receipts get.
    receipts_end: Registration,
    events: Vec<Event>,
}

impl Ledger {
    pub fn new(shop: Arc<Shop>, chance: Arc<IdGenerator>, capacity: usize) -> Self {
        Self {
            shop,
            chance,
            payments: Bounded::new(capacity),
            refunds: Bounded::new(capacity),
            methods: Bounded::new(capacity),
            receipts: Bounded::new(capacity),
            keys: Keys::new(capacity.saturating_mul(4)),
            to_confirm: Deadlines::new(capacity.saturating_mul(2)),
            to_capture: Deadlines::new(capacity),
            refunds_end: RefundStatus::Succeeded,
            cancels_unpaid: false,
            notifies_first: false,
            receipts_end: Registration::Succeeded,
            events: Vec::new(),
        }
    }

    /// Returns the events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Returns the current API representation of the object.
    pub fn view(&self, object: &Object) -> Option<Value> {
        match object {
            Object::Payment(id) => self.payments.get(id).map(|payment| view::payment(payment, &self.shop)),
            Object::Refund(id) => self.refunds.get(id).map(view::refund),
            Object::Method(id) => self.methods.get(id).map(|saved| view::saved_method(saved, &self.shop)),
            Object::Receipt(id) => self.receipts.get(id).map(view::receipt),
        }
    }

    /// Does the work of a request once per idempotence key. A repeated request gets the current state of the first
    /// request's object, or the refusal of the first. An internal failure is not stored, because nothing was done.
    pub fn once(
        &mut self,
        key: &str,
        fingerprint: Fingerprint,
        now: DateTime<Utc>,
        work: impl FnOnce(&mut Self) -> Result<Object, Refusal>,
    ) -> Result<Object, Refusal> {
        if let Some(outcome) = self.keys.replay(key, &fingerprint, now)? {
            return outcome;
        }
        let outcome = work(self);
        if outcome.as_ref().err() != Some(&Refusal::internal()) {
            self.keys.remember(key, fingerprint, now, outcome.clone());
        }
        outcome
    }

    /// `POST /v3/payments`. A charge of a saved method stores in `taken` the script step that it uses up.
    pub fn create_payment(
        &mut self,
        order: PaymentOrder,
        taken: &mut Option<Step>,
        now: DateTime<Utc>,
    ) -> Result<Object, Refusal> {
        if order.save && !self.shop.saving_allowed {
            return Err(Refusal::forbidden("Forbidden to save payment method").at("save_payment_method"));
        }
        let id = self.chance.id();
        let (method, step) = match order.source {
            Source::Open => (None, None),
            Source::Chosen(kind) => (Some(Method::chosen(id.clone(), kind)), None),
            Source::Saved(method_id) => {
                let (method, step) = self.charge(&method_id)?;
                (Some(method), Some(step))
            }
        };
        *taken = step;
        if step.is_some_and(|step| step.prevents_work()) {
            return Err(Refusal::internal());
        }
        let payment = Payment {
            id: id.clone(),
            status: Status::Pending,
            amount: order.amount,
            refunded: Amount::default(),
            created_at: now,
            description: order.description,
            capture: order.capture,
            save: order.save,
            method,
            step,
            confirmation: order.confirmation,
            metadata: order.metadata,
            merchant_customer_id: order.merchant_customer_id,
            receipt: order.receipt.map(|body| AttachedReceipt { state: Registration::Pending, body }),
        };
        self.payments.put(&id, payment);
        let object = Object::Payment(id);
        match step.map(|step| step.ending) {
            None => self.to_confirm.add(now + CONFIRMATION_WINDOW, object.clone()),
            Some(Ending::AtOnce(verdict)) => self.conclude(&object, verdict, now),
            Some(Ending::After(pause, _)) => self.to_confirm.add(now + pause, object.clone()),
            Some(Ending::OnRequest) => {}
        }
        Ok(object)
    }

    /// `POST /v3/payments/{id}/capture`
    pub fn capture(&mut self, id: &str, sum: Option<Amount>, now: DateTime<Utc>) -> Result<Object, Refusal> {
        let (status, taken) = self.known_payment(id)?.captured(sum, now)?;
        self.change_payment(id, |payment| (payment.status, payment.amount) = (status, taken));
        Ok(Object::Payment(id.to_owned()))
    }

    /// `POST /v3/payments/{id}/cancel`
    pub fn cancel(&mut self, id: &str) -> Result<Object, Refusal> {
        let status = self.known_payment(id)?.canceled(self.cancels_unpaid)?;
        self.change_payment(id, |payment| payment.status = status);
        Ok(Object::Payment(id.to_owned()))
    }

    fn known_payment(&self, id: &str) -> Result<&Payment, Refusal> {
        self.payments.get(id).ok_or_else(|| Refusal::not_found("Payment doesn't exist or access denied"))
    }

    /// `POST /v3/refunds`
    pub fn create_refund(&mut self, order: RefundOrder, now: DateTime<Utc>) -> Result<Object, Refusal> {
        let payment = self
            .payments
            .get(&order.payment_id)
            .ok_or_else(|| Refusal::invalid("Payment doesn't exist or access denied").at("payment_id"))?;
        let total = payment.refunded(order.amount)?;
        if order.receipt.is_none() && payment.needs_receipt_to_refund(order.amount) {
            return Err(Refusal::invalid("Receipt is required for a partial refund").at("receipt"));
        }
        let has_receipt = order.receipt.is_some() || payment.receipt.is_some();
        let before = view::payment(payment, &self.shop);
        let id = self.chance.id();
        let refund = Refund {
            id: id.clone(),
            payment_id: order.payment_id.clone(),
            status: self.refunds_end,
            amount: order.amount,
            created_at: now,
            description: order.description,
            metadata: order.metadata,
            receipt: has_receipt.then_some(self.receipts_end),
        };
        let status = refund.status;
        self.refunds.put(&id, refund);
        if status != RefundStatus::Canceled
            && let Some(payment) = self.payments.get_mut(&order.payment_id)
        {
            payment.refunded = total;
        }
        if status == RefundStatus::Succeeded {
            self.tell("refund.succeeded", &Object::Refund(id.clone()), ("payment.succeeded", before));
        }
        Ok(Object::Refund(id))
    }

    /// Ends a pending refund. `None` when there is no such refund or it has ended.
    pub fn end_refund(&mut self, id: &str, status: RefundStatus) -> Option<Object> {
        let refund = self.refunds.get_mut(id).filter(|refund| refund.status == RefundStatus::Pending)?;
        let before = view::refund(refund);
        refund.status = status;
        let (payment_id, amount) = (refund.payment_id.clone(), refund.amount);
        let object = Object::Refund(id.to_owned());
        match status {
            RefundStatus::Pending => {}
            RefundStatus::Succeeded => self.tell("refund.succeeded", &object, ("refund.succeeded", before)),
            RefundStatus::Canceled => {
                if let Some(payment) = self.payments.get_mut(&payment_id) {
                    payment.refunded = payment.refunded.minus(amount);
                }
            }
        }
        Some(object)
    }

    /// `POST /v3/receipts`
    pub fn create_receipt(&mut self, order: ReceiptOrder, now: DateTime<Utc>) -> Result<Object, Refusal> {
        let unknown = |parameter: &str| Refusal::invalid("Payment doesn't exist or access denied").at(parameter);
        match &order.about {
            About::Payment(id) => {
                let paid = self.payments.get(id).is_some_and(|payment| payment.status.is_paid());
                paid.then_some(()).ok_or_else(|| unknown("payment_id"))?;
            }
            About::Refund(id) => self.refunds.get(id).map(|_| ()).ok_or_else(|| unknown("refund_id"))?,
        }
        let id = format!("rt_{}", self.chance.id());
        self.receipts.put(&id, Receipt { id: id.clone(), order, state: self.receipts_end, created_at: now });
        Ok(Object::Receipt(id))
    }

    /// Returns the registration status that receipts get.
    pub fn receipts_end(&self) -> Registration {
        self.receipts_end
    }

    /// Changes the registration status of receipts, including those that wait for registration.
    pub fn set_receipt_result(&mut self, end: Registration) {
        self.receipts_end = end;
        let of_payments = self.payments.all_mut().filter(|payment| payment.status.is_paid());
        let of_payments = of_payments.filter_map(|payment| payment.receipt.as_mut()).map(|slip| &mut slip.state);
        let of_refunds = self.refunds.all_mut().filter_map(|refund| refund.receipt.as_mut());
        let alone = self.receipts.all_mut().map(|receipt| &mut receipt.state);
        for state in of_payments.chain(of_refunds).chain(alone).filter(|state| **state == Registration::Pending) {
            *state = end;
        }
    }

    /// `POST /v3/payment_methods`
    pub fn create_binding(&mut self, order: BindingOrder, now: DateTime<Utc>) -> Result<Object, Refusal> {
        if !self.shop.saving_allowed {
            return Err(Refusal::forbidden("Forbidden to save payment method"));
        }
        let id = self.chance.id();
        let saved = SavedMethod {
            method: Method::chosen(id.clone(), order.kind),
            confirmation: Some(order.confirmation),
            metadata: order.metadata,
            script: Script::default(),
        };
        self.methods.put(&id, saved);
        self.to_confirm.add(now + CONFIRMATION_WINDOW, Object::Method(id.clone()));
        Ok(Object::Method(id))
    }

    /// Returns the earliest deadline.
    pub fn next_deadline(&self) -> Option<DateTime<Utc>> {
        self.to_confirm.next().into_iter().chain(self.to_capture.next()).min()
    }

    /// Expires the objects whose deadlines have passed.
    pub fn expire_due(&mut self, now: DateTime<Utc>) {
        while let Some(object) = self.to_confirm.take_due(now) {
            if let Some(verdict) = self.scripted_verdict(&object) {
                self.conclude(&object, verdict, now);
                continue;
            }
            // An object that was confirmed in the meantime refuses to expire.
            let _ = match &object {
                Object::Payment(id) => self.act_on_payment(id, &Act::Expire, now),
                Object::Method(id) => self.act_on_binding(id, &Act::Expire, now),
                Object::Refund(_) | Object::Receipt(_) => Ok(()),
            };
        }
        while let Some(object) = self.to_capture.take_due(now) {
            if let Object::Payment(id) = object
                && let Some(payment) = self.payments.get(&id)
                && matches!(payment.status, Status::WaitingForCapture { .. })
                && let Some(status) = payment.status.expired()
            {
                self.change_payment(&id, |payment| payment.status = status);
            }
        }
    }

    /// Changes a payment and notifies the shop of its new status.
    pub(super) fn change_payment(&mut self, id: &str, change: impl FnOnce(&mut Payment)) {
        let Some(payment) = self.payments.get_mut(id) else { return };
        let before = payment.status.event().unwrap_or("payment.waiting_for_capture");
        let stale = (before, view::payment(payment, &self.shop));
        change(payment);
        let status = payment.status;
        if let (Status::Succeeded { .. }, Some(slip)) = (status, payment.receipt.as_mut()) {
            slip.state = self.receipts_end;
        }
        let object = Object::Payment(id.to_owned());
        if let Status::WaitingForCapture { until, .. } = status {
            self.to_capture.add(until, object.clone());
        }
        if let Some(event) = status.event() {
            self.tell(event, &object, stale);
        }
    }

    pub(super) fn tell(&mut self, name: &'static str, object: &Object, stale: (&'static str, Value)) {
        let (Object::Payment(id) | Object::Refund(id) | Object::Method(id) | Object::Receipt(id)) = object;
        if let Some(view) = self.view(object) {
            let step = match object {
                Object::Payment(id) => self.payments.get(id).and_then(|payment| payment.step),
                Object::Refund(_) | Object::Method(_) | Object::Receipt(_) => None,
            };
            self.events.push(Event {
                name,
                object_id: id.clone(),
                object: view,
                fault: step.and_then(|step| step.notifications),
                comes_first: self.notifies_first || step.is_some_and(|step| step.notifies_first),
                stale,
            });
        }
    }
}

/// Waiting objects, the earliest deadline first.
pub struct Deadlines {
    /// Maximum number of objects. When it is reached, a new object replaces the one that is due next.
    capacity: usize,
    waiting: VecDeque<(DateTime<Utc>, Object)>,
}

impl Deadlines {
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), waiting: VecDeque::new() }
    }

    pub fn add(&mut self, due: DateTime<Utc>, object: Object) {
        if self.waiting.len() == self.capacity {
            self.waiting.pop_front();
        }
        // Most objects wait equally long, so new ones usually belong at the end.
        let place = self.waiting.partition_point(|(earlier, _)| *earlier <= due);
        self.waiting.insert(place, (due, object));
    }

    /// Returns the earliest deadline.
    pub fn next(&self) -> Option<DateTime<Utc>> {
        self.waiting.front().map(|(due, _)| *due)
    }

    /// Removes and returns the next object whose deadline has passed.
    pub fn take_due(&mut self, now: DateTime<Utc>) -> Option<Object> {
        self.waiting.pop_front_if(|(due, _)| *due <= now).map(|(_, object)| object)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;

    use super::*;
    use crate::acquirer::method::{CardNumber, Kind};
    use crate::acquirer::page::Means;
    use crate::acquirer::payment::{Canceled, Verdict};

    const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn ledger() -> Ledger {
        let shop = Shop {
            id: "1".to_owned(),
            gateway_id: "2",
            secret_key: "test_key".to_owned(),
            test: true,
            saving_allowed: true,
            url: "http://sandbox".to_owned(),
        };
        Ledger::new(Arc::new(shop), Arc::new(IdGenerator::new(Arc::new(|buffer: &mut [u8]| buffer.fill(1)))), 100)
    }

    fn order(fields: &Value) -> PaymentOrder {
        let mut body = json!({ "amount": { "value": "100.00", "currency": "RUB" }, "capture": true });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        PaymentOrder::read(body.as_object().unwrap()).unwrap()
    }

    fn pending(ledger: &mut Ledger, fields: &Value) -> String {
        let mut body = json!({ "confirmation": { "type": "redirect", "return_url": "https://shop.test" } });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        match ledger.create_payment(order(&body), &mut None, START) {
            Ok(Object::Payment(id)) => id,
            other => panic!("{other:?}"),
        }
    }

    fn by_card(save: bool) -> Act {
        Act::Pay(Means { kind: Kind::BANK_CARD, card: CardNumber::default(), save })
    }

    fn event_names(ledger: &mut Ledger) -> Vec<&'static str> {
        ledger.take_events().into_iter().map(|event| event.name).collect()
    }

    #[test]
    fn a_saved_card_is_charged_without_the_payer_until_declines_are_configured() {
        let mut ledger = ledger();
        let id = pending(&mut ledger, &json!({ "save_payment_method": true }));
        ledger.act_on_payment(&id, &by_card(true), START).unwrap();
        ledger.create_payment(order(&json!({ "payment_method_id": id })), &mut None, START).unwrap();
        let poor = Verdict::Declined(Canceled::by_network("insufficient_funds"));
        ledger.direct(&id, Step::new(Ending::AtOnce(poor)).into()).unwrap();
        ledger.create_payment(order(&json!({ "payment_method_id": id })), &mut None, START).unwrap();
        assert_eq!(event_names(&mut ledger), ["payment.succeeded", "payment.succeeded", "payment.canceled"]);
        assert_eq!(ledger.payments.newest().next().unwrap().status.name(), "canceled");
    }

    #[test]
    fn a_card_the_payer_did_not_agree_to_save_is_not_charged() {
        let mut ledger = ledger();
        let id = pending(&mut ledger, &json!({ "save_payment_method": true }));
        ledger.act_on_payment(&id, &by_card(false), START).unwrap();
        let refusal = ledger.create_payment(order(&json!({ "payment_method_id": id })), &mut None, START).unwrap_err();
        assert_eq!(refusal.description, "Payment method is not saved");
        let refusal = ledger.create_payment(order(&json!({ "payment_method_id": "x" })), &mut None, START).unwrap_err();
        assert_eq!(refusal.description, "Payment method is not found");
    }

    #[test]
    fn an_unconfirmed_payment_expires_after_an_hour_and_a_held_one_after_a_week() {
        let mut ledger = ledger();
        let forgotten = pending(&mut ledger, &json!({}));
        let held = pending(&mut ledger, &json!({ "capture": false }));
        ledger.act_on_payment(&held, &by_card(false), START).unwrap();
        ledger.expire_due(START + CONFIRMATION_WINDOW - TimeDelta::seconds(1));
        assert_eq!(event_names(&mut ledger), ["payment.waiting_for_capture"]);
        ledger.expire_due(START + CONFIRMATION_WINDOW);
        assert_eq!(ledger.payments.get(&forgotten).unwrap().status, Status::Canceled(Canceled::NOT_CONFIRMED));
        ledger.expire_due(START + TimeDelta::days(7));
        assert_eq!(ledger.payments.get(&held).unwrap().status, Status::Canceled(Canceled::NOT_CAPTURED));
        assert_eq!(event_names(&mut ledger), ["payment.canceled", "payment.canceled"]);
    }

    #[test]
    fn a_repeated_key_does_the_work_once() {
        let mut ledger = ledger();
        let mut create = |key| {
            ledger.once(key, [0; 32], START, |ledger| {
                ledger.create_payment(order(&json!({ "confirmation": { "type": "qr" } })), &mut None, START)
            })
        };
        let (first, again, other) = (create("a").unwrap(), create("a").unwrap(), create("b").unwrap());
        assert_eq!(first, again);
        assert_ne!(first, other);
        assert_eq!(ledger.payments.newest().count(), 2);
    }

    #[test]
    fn a_refund_rejected_by_the_bank_restores_the_amount() {
        let mut ledger = ledger();
        let id = pending(&mut ledger, &json!({}));
        ledger.act_on_payment(&id, &by_card(false), START).unwrap();
        ledger.refunds_end = RefundStatus::Pending;
        let body = json!({ "payment_id": id, "amount": { "value": "100.00", "currency": "RUB" } });
        let Object::Refund(refund) =
            ledger.create_refund(RefundOrder::read(body.as_object().unwrap()).unwrap(), START).unwrap()
        else {
            panic!("not a refund")
        };
        assert!(!ledger.payments.get(&id).unwrap().is_refundable());
        assert!(ledger.end_refund(&refund, RefundStatus::Canceled).is_some());
        assert!(ledger.payments.get(&id).unwrap().is_refundable());
        assert_eq!(ledger.end_refund(&refund, RefundStatus::Succeeded), None);
    }
}
