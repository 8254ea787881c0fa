//! A shop with customers in front of it and a scripted acquirer behind it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::{
    CounterpartyId, CustomerScope, DeliveryTypeId, FixedClock, NomenclatureId, OrderId, Quantity, Random,
    SavedMethodId, ShopId, TokenId,
};
use kontor_orders::model::{Cart, CartLine, DeliveryRequest, Order, PaymentMethod, PromoCode};
use kontor_orders::ports::OrderReader;
use kontor_orders::{FewestWarehouses, OrderCommand, PaymentPage, PlacedOutcome, PlacementError, PlacementService};
use kontor_payments::model::{
    ChargeRequest, GatewayMethod, GatewayPayment, GatewayReceipt, GatewayRefund, GatewayStatus, HandOverRequest,
    ProviderId, RefundRequest, Registration,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use kontor_payments::{ChargeService, ReceiptService, RefundService};
use uuid::Uuid;

use crate::storehouse::{Item, Storehouse};

/// Bytes that never repeat.
struct Serial(AtomicU64);

impl Random for Serial {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let next = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            let tail = &next[next.len() - chunk.len()..];
            chunk.copy_from_slice(tail);
        }
    }
}

/// What the acquirer does with the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Pending,
    Paid,
    Refuses,
    /// The payment is made and canceled for this reason.
    Declines(&'static str),
    /// The payment is made, the answer is lost.
    LosesTheAnswer,
    /// Nothing is made, nothing is said.
    Silent,
}

/// An acquirer that makes one payment per key, as the real one does.
pub struct Acquirer {
    pub mood: Mutex<Mood>,
    pub payments: Mutex<Vec<(Uuid, GatewayPayment)>>,
    pub refunds: Mutex<Vec<(Uuid, GatewayRefund)>>,
    pub receipts: Mutex<Vec<(String, GatewayReceipt)>>,
    /// What the register makes of receipts.
    pub register: Mutex<Registration>,
    pub requests: AtomicU64,
    /// The saved methods that requests named, noted when they are answered.
    pub named: Mutex<Vec<SavedMethodId>>,
    /// For how many milliseconds such a request is on its way.
    lingers: AtomicU64,
}

impl Acquirer {
    pub fn mood(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// Nothing is on its way for long any more.
    pub fn hurries(&self) {
        self.lingers.store(0, Ordering::Relaxed);
    }

    /// The payer pays, or does not.
    pub fn settle(&self, status: GatewayStatus) -> ProviderId {
        let mut payments = self.payments.lock().unwrap();
        let (_, payment) = payments.last_mut().unwrap();
        payment.status = status;
        payment.id.clone()
    }

    /// Nobody pays any more what is not paid yet. Returns these payments.
    pub fn end(&self) -> Vec<ProviderId> {
        let mut payments = self.payments.lock().unwrap();
        let open =
            payments.iter_mut().map(|(_, payment)| payment).filter(|payment| payment.status == GatewayStatus::Pending);
        open.map(|payment| {
            payment.status = GatewayStatus::Canceled;
            payment.id.clone()
        })
        .collect()
    }

    /// What has ended is asked about no more.
    pub fn forget(&self) {
        self.payments.lock().unwrap().clear();
        self.named.lock().unwrap().clear();
    }

    /// What the register makes of receipts from now on, those of the past among them.
    pub fn registers(&self, end: Registration) {
        *self.register.lock().unwrap() = end;
        let (mut payments, mut receipts) = (self.payments.lock().unwrap(), self.receipts.lock().unwrap());
        payments.iter_mut().filter_map(|(_, payment)| payment.receipt.as_mut()).for_each(|receipt| *receipt = end);
        receipts.iter_mut().for_each(|(_, receipt)| receipt.status = end);
    }

    fn registration(&self) -> Registration {
        *self.register.lock().unwrap()
    }

    pub fn count(&self) -> usize {
        self.payments.lock().unwrap().len()
    }

    fn make(&self, request: &ChargeRequest, status: GatewayStatus) -> GatewayPayment {
        let (key, mut payments) = (request.key, self.payments.lock().unwrap());
        if let Some((_, known)) = payments.iter().find(|(known, _)| *known == key) {
            return known.clone();
        }
        let payment = GatewayPayment {
            id: ProviderId::parse(&format!("pay-{key}")).unwrap(),
            status,
            amount: request.amount,
            currency: request.currency.clone(),
            confirmation_url: Some(format!("https://pay.example/{key}")),
            reason: None,
            purpose: Some(request.purpose),
            key: Some(key),
            saved_method: request.save_method.then(|| card(key)),
            receipt: request.receipt.as_ref().map(|_| self.registration()),
        };
        payments.push((key, payment.clone()));
        payment
    }
}

#[async_trait]
impl PaymentGateway for Acquirer {
    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if let Some(method) = &request.saved_method {
            // On its way for a while.
            tokio::time::sleep(std::time::Duration::from_millis(self.lingers.load(Ordering::Relaxed))).await;
            self.named.lock().unwrap().push(method.id);
        }
        let unknown = || Answer::Unknown { why: "no answer".to_owned(), retry_after: None };
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::Pending => Answer::Known(self.make(request, GatewayStatus::Pending)),
            Mood::Paid => Answer::Known(self.make(request, GatewayStatus::Succeeded)),
            Mood::Refuses => Answer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() },
            Mood::Declines(reason) => {
                self.make(request, GatewayStatus::Canceled);
                let mut payments = self.payments.lock().unwrap();
                let (_, made) = payments.iter_mut().find(|(key, _)| *key == request.key).unwrap();
                made.reason = Some(reason.to_owned());
                Answer::Known(made.clone())
            }
            Mood::LosesTheAnswer => {
                self.make(request, GatewayStatus::Pending);
                unknown()
            }
            Mood::Silent => unknown(),
        }
    }

    /// Whoever is in a good mood takes back what nobody has paid.
    async fn cancel(&self, id: &ProviderId, _: Uuid) -> Answer<GatewayPayment> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let mood = *self.mood.lock().unwrap();
        let refused = || Answer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() };
        let mut payments = self.payments.lock().unwrap();
        let found = payments.iter_mut().map(|(_, payment)| payment).find(|payment| payment.id == *id);
        let Some(payment) = found else { return refused() };
        let lost = Answer::Unknown { why: "no answer".to_owned(), retry_after: None };
        match mood {
            Mood::Silent => return lost,
            Mood::Refuses => return refused(),
            _ if payment.status != GatewayStatus::Pending => return refused(),
            Mood::Pending | Mood::Paid | Mood::LosesTheAnswer | Mood::Declines(_) => {}
        }
        payment.status = GatewayStatus::Canceled;
        payment.reason = Some("canceled_by_merchant".to_owned());
        if mood == Mood::LosesTheAnswer { lost } else { Answer::Known(payment.clone()) }
    }

    async fn read(&self, id: &ProviderId) -> Reading<GatewayPayment> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let payments = self.payments.lock().unwrap();
        let found = payments.iter().find(|(_, payment)| payment.id == *id);
        found.map_or(Reading::Absent, |(_, payment)| Reading::Known(payment.clone()))
    }

    async fn find(&self, request: &ChargeRequest, _: DateTime<Utc>) -> Reading<GatewayPayment> {
        let payments = self.payments.lock().unwrap();
        let found = payments.iter().find(|(key, _)| *key == request.key);
        found.map_or(Reading::Absent, |(_, payment)| Reading::Known(payment.clone()))
    }

    async fn refund(&self, request: &RefundRequest) -> Answer<GatewayRefund> {
        let mood = *self.mood.lock().unwrap();
        let (id, status) = match mood {
            Mood::Silent => return Answer::Unknown { why: "no answer".to_owned(), retry_after: None },
            Mood::Refuses => {
                return Answer::Refused { code: "forbidden".to_owned(), description: "no".to_owned() };
            }
            Mood::Pending => (request.key, GatewayStatus::Pending),
            Mood::Paid | Mood::LosesTheAnswer | Mood::Declines(_) => (request.key, GatewayStatus::Succeeded),
        };
        let mut refunds = self.refunds.lock().unwrap();
        let known = refunds.iter().find(|(key, _)| *key == id).map(|(_, known)| known.clone());
        let refund = known.unwrap_or_else(|| {
            let made = GatewayRefund {
                id: ProviderId::parse(&format!("ref-{id}")).unwrap(),
                payment: request.payment.clone(),
                status,
                amount: request.amount,
                currency: request.currency.clone(),
                reason: None,
                key: Some(id),
                receipt: request.receipt.as_ref().map(|_| self.registration()),
            };
            refunds.push((id, made.clone()));
            made
        });
        if mood == Mood::LosesTheAnswer {
            return Answer::Unknown { why: "no answer".to_owned(), retry_after: None };
        }
        Answer::Known(refund)
    }

    async fn read_refund(&self, id: &ProviderId) -> Reading<GatewayRefund> {
        let refunds = self.refunds.lock().unwrap();
        let found = refunds.iter().find(|(_, refund)| refund.id == *id);
        found.map_or(Reading::Absent, |(_, refund)| Reading::Known(refund.clone()))
    }

    async fn find_refund(&self, request: &RefundRequest) -> Reading<GatewayRefund> {
        let refunds = self.refunds.lock().unwrap();
        let found = refunds.iter().find(|(_, refund)| request.is_met_by(refund));
        found.map_or(Reading::Absent, |(_, refund)| Reading::Known(refund.clone()))
    }

    async fn register(&self, request: &HandOverRequest) -> Answer<GatewayReceipt> {
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::Silent => return Answer::Unknown { why: "no answer".to_owned(), retry_after: None },
            Mood::Refuses => return Answer::Refused { code: "forbidden".to_owned(), description: "no".to_owned() },
            Mood::Pending | Mood::Paid | Mood::LosesTheAnswer | Mood::Declines(_) => {}
        }
        let mut receipts = self.receipts.lock().unwrap();
        let known = receipts.iter().find(|(key, _)| *key == request.key).map(|(_, known)| known.clone());
        let receipt = known.unwrap_or_else(|| {
            let made = GatewayReceipt {
                id: ProviderId::parse(&format!("rt-{}", receipts.len())).unwrap(),
                payment: Some(request.payment.clone()),
                status: self.registration(),
                prepaid: request.receipt.total(),
            };
            receipts.push((request.key.clone(), made.clone()));
            made
        });
        if mood == Mood::LosesTheAnswer {
            return Answer::Unknown { why: "no answer".to_owned(), retry_after: None };
        }
        Answer::Known(receipt)
    }

    async fn read_receipt(&self, id: &ProviderId) -> Reading<GatewayReceipt> {
        let receipts = self.receipts.lock().unwrap();
        let found = receipts.iter().find(|(_, receipt)| receipt.id == *id);
        found.map_or(Reading::Absent, |(_, receipt)| Reading::Known(receipt.clone()))
    }

    async fn find_receipt(&self, request: &HandOverRequest) -> Reading<GatewayReceipt> {
        let receipts = self.receipts.lock().unwrap();
        let found = receipts.iter().find(|(_, receipt)| request.is_met_by(receipt));
        found.map_or(Reading::Absent, |(_, receipt)| Reading::Known(receipt.clone()))
    }
}

/// The card that the payer of this request uses.
fn card(key: Uuid) -> GatewayMethod {
    GatewayMethod {
        provider_id: ProviderId::parse(&format!("method-{key}")).unwrap(),
        method: PaymentMethod::BankCard,
        card_type: Some("Mir".to_owned()),
        card_last_4: Some("4444".to_owned()),
        title: Some("Bank card *4444".to_owned()),
    }
}

/// A shop, open for business.
pub struct Counter<'a> {
    pub house: Storehouse<'a>,
    pub clock: Arc<FixedClock>,
    pub random: Arc<dyn Random>,
    pub acquirer: Arc<Acquirer>,
    pub payments: Arc<ChargeService>,
    pub refunds: Arc<RefundService>,
    pub receipts: Arc<ReceiptService>,
    pub placement: Arc<PlacementService>,
    pub customer: CustomerScope,
    pub category: i64,
    shop: i64,
}

impl<'a> Counter<'a> {
    pub async fn open(db: &'a TestDatabase) -> Self {
        let house = Storehouse::open(db).await;
        let p = house.project;
        house
            .run(format!(
                "INSERT INTO delivery_types (project_id, id, name, price, is_active) VALUES ({p}, 1, 'Pickup', 0, TRUE), \
                 ({p}, 2, 'Delivery', 30000, TRUE)"
            ))
            .await;
        let shop = house
            .number(format!(
                "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) \
                 SELECT {p}, min(id), 'Shop', 'Square 1', TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00' \
                 FROM branches WHERE project_id = {p} RETURNING id AS number"
            ))
            .await;
        let category = house.category("All", None).await;
        let clock = Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap()));
        let random: Arc<dyn Random> = Arc::new(Serial(AtomicU64::new(1)));
        let acquirer = Arc::new(Acquirer {
            mood: Mutex::new(Mood::Pending),
            payments: Mutex::default(),
            refunds: Mutex::default(),
            receipts: Mutex::default(),
            register: Mutex::new(Registration::Succeeded),
            requests: AtomicU64::new(0),
            named: Mutex::default(),
            lingers: AtomicU64::new(5),
        });
        let store = Arc::new(db.database.clone());
        let payments = Arc::new(ChargeService {
            charges: store.clone(),
            gateway: acquirer.clone(),
            clock: clock.clone(),
            random: random.clone(),
        });
        let refunds = Arc::new(RefundService {
            refunds: store.clone(),
            gateway: acquirer.clone(),
            clock: clock.clone(),
            random: random.clone(),
        });
        let receipts =
            Arc::new(ReceiptService { receipts: store.clone(), gateway: acquirer.clone(), clock: clock.clone() });
        let page = PaymentPage { return_url: "https://shop.example/{order_id}".to_owned() };
        let placement = Arc::new(PlacementService {
            carts: store.clone(),
            orders: store.clone(),
            store,
            charges: payments.clone(),
            clock: clock.clone(),
            random: random.clone(),
            page,
            allocation: Arc::new(FewestWarehouses),
        });
        let app = house.first;
        let token_id = TokenId::new(1).unwrap();
        let customer = CustomerScope { app, counterparty_id: CounterpartyId::new(1).unwrap(), token_id };
        let mut counter =
            Self { house, clock, random, acquirer, payments, refunds, receipts, placement, customer, category, shop };
        counter.customer = counter.another_customer().await;
        counter
    }

    pub async fn another_customer(&self) -> CustomerScope {
        let id = self
            .house
            .number(format!(
                "INSERT INTO counterparties (project_id, is_company, first_name, last_name, phone_1, created_at, updated_at) \
                 VALUES ({}, FALSE, 'Anna', 'K', '79001234567', '2026-01-01 00:00:00', '2026-01-01 00:00:00') \
                 RETURNING id AS number",
                self.house.project
            ))
            .await;
        CustomerScope { counterparty_id: CounterpartyId::new(id).unwrap(), ..self.customer }
    }

    /// Goods in the near warehouse.
    pub async fn goods(&self, name: &'static str, quantity: i64, price: i64) -> i64 {
        let item = self.house.item(Item::goods(name, self.category)).await;
        self.house.stock(self.house.near, item, quantity, price).await;
        self.house.db.database.rebuild_offers().await.unwrap();
        item
    }

    pub async fn promo(&self, code: &str, usage_limit: &str, customer_limit: &str) -> i64 {
        self.house
            .number(format!(
                "INSERT INTO discounts (project_id, name, code, kind, value, target, minimum_sum, usage_limit, \
                 customer_limit, used_count, status, created_at, updated_at) VALUES ({}, 'Promo', '{code}', 'percent', \
                 1000, 'cart', 0, {usage_limit}, {customer_limit}, 0, 'active', '2026-01-01 00:00:00', \
                 '2026-01-01 00:00:00') RETURNING id AS number",
                self.house.project
            ))
            .await
    }

    pub fn command(&self, lines: &[(i64, i64)]) -> OrderCommand {
        let line = |(item, quantity): &(i64, i64)| CartLine {
            item: NomenclatureId::new(*item).unwrap(),
            quantity: Quantity::new(*quantity).unwrap(),
        };
        OrderCommand {
            cart: Cart::new(lines.iter().map(line).collect()).unwrap(),
            promo_code: None,
            delivery: DeliveryRequest {
                type_id: DeliveryTypeId::new(1).unwrap(),
                subtype_id: None,
                subtype_param_id: None,
                shop_id: ShopId::new(self.shop).ok(),
                address: None,
                payment_type_id: None,
            },
            payment_method: None,
        }
    }

    pub fn with_promo(&self, lines: &[(i64, i64)], code: &str) -> OrderCommand {
        OrderCommand { promo_code: PromoCode::parse(code).ok(), ..self.command(lines) }
    }

    pub fn online(&self, lines: &[(i64, i64)]) -> OrderCommand {
        OrderCommand { payment_method: Some(PaymentMethod::BankCard), ..self.command(lines) }
    }

    pub async fn place(&self, command: &OrderCommand) -> Result<PlacedOutcome, PlacementError> {
        self.placement.place(self.customer, command).await
    }

    /// Places an order that must come about.
    pub async fn placed(&self, command: &OrderCommand) -> Order {
        match self.place(command).await.unwrap() {
            PlacedOutcome::Ready(order) | PlacedOutcome::PaymentUnclear(order) => order,
        }
    }

    pub async fn order(&self, id: OrderId) -> Order {
        let found = OrderReader::find(&self.house.db.database, id).await.unwrap().unwrap();
        found.within(self.customer.app.project_id).unwrap()
    }

    pub async fn only_order(&self) -> Order {
        let mut orders = self.house.db.database.of_customer(self.customer).await.unwrap();
        assert_eq!(orders.len(), 1);
        orders.remove(0)
    }

    /// `(quantity, reserved)` of an item in the near warehouse.
    pub async fn stock(&self, item: i64) -> (i64, i64) {
        let part = |column| {
            let near = self.house.near;
            self.house.number(format!(
                "SELECT {column} AS number FROM inventories WHERE nomenclature_id = {item} AND warehouse_id = {near}"
            ))
        };
        (part("quantity").await, part("reserved").await)
    }

    pub async fn count(&self, table: &str) -> i64 {
        self.house.number(format!("SELECT count(*) AS number FROM {table}")).await
    }

    pub fn wait(&self, seconds: i64) {
        self.clock.advance(TimeDelta::seconds(seconds));
    }
}
