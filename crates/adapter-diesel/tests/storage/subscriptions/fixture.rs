//! A shop with plans, and customers who subscribe to them.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::{
    ApplicationId, Clock, CustomerScope, NomenclatureId, PageRequest, Permission, SavedMethodId, Staff, SubscriptionId,
    TokenId, UserId,
};
use kontor_orders::OrderService;
use kontor_payments::model::{GatewayStatus, PaymentMethod};
use kontor_payments::ports::SavedMethodStore;
use kontor_subscriptions::model::{PlanChoice, SubscriptionView};
use kontor_subscriptions::ports::SubscriptionStore;
use kontor_subscriptions::{
    Agreement, ChargeLimiter, Checkout, Purchase, StaffSubscriptions, SubscriptionError, SubscriptionScheduler,
    SubscriptionService,
};

use crate::orders::shop::{AcquirerMode, ShopFixture};
use crate::stock_fixture::Item;

/// A shop with a plan.
pub struct SubscriptionFixture<'a> {
    pub shop: ShopFixture<'a>,
    pub service: Arc<SubscriptionService>,
    pub scheduler: Arc<SubscriptionScheduler>,
    pub gold: i64,
}

impl<'a> SubscriptionFixture<'a> {
    pub async fn open(db: &'a TestDatabase) -> Self {
        let shop = ShopFixture::open(db).await;
        // The application needs a warehouse to sell anything.
        shop.goods("Anchor", 1, 100).await;
        // The employee of `staff`, whose changes are in the history.
        let p = shop.stock_fixture.project;
        let at = "'2026-01-01 00:00:00', '2026-01-01 00:00:00'";
        shop
            .stock_fixture
            .run(format!(
                "INSERT INTO roles (project_id, name, is_owner, created_at, updated_at) VALUES ({p}, 'Owner', TRUE, {at}); \
                 INSERT INTO users (project_id, role_id, login, email, password_hash, first_name, last_name, is_banned, is_sick, \
                 active_seconds, created_at, updated_at) SELECT {p}, id, 'club-{p}', 'club@e.ru', '', 'Ivan', 'S', FALSE, FALSE, \
                 0, {at} FROM roles WHERE project_id = {p}"
            ))
            .await;
        let mut fixture = Self::serving(shop, 0);
        fixture.gold = fixture.plan("Gold", 99_000, 1).await;
        fixture
    }

    /// The services of a shop with this plan.
    pub fn serving(shop: ShopFixture<'a>, gold: i64) -> Self {
        let store = Arc::new(shop.stock_fixture.db.database.clone());
        let service = Arc::new(SubscriptionService {
            store: store.clone(),
            charges: shop.payments.clone(),
            clock: shop.clock.clone(),
            random: shop.random.clone(),
            return_url: "https://shop.example/{order_id}".to_owned(),
            consent_text: "1".to_owned(),
        });
        let scheduler = Arc::new(SubscriptionScheduler {
            store,
            charges: shop.payments.clone(),
            clock: shop.clock.clone(),
            random: shop.random.clone(),
            limiter: Arc::new(ChargeLimiter::per_second(10_000)),
        });
        Self { shop, service, scheduler, gold }
    }

    /// A plan that the application offers at this price for this number of months.
    pub async fn plan(&self, name: &'static str, price: i64, months: i64) -> i64 {
        let stock_fixture = &self.shop.stock_fixture;
        let item = stock_fixture.item(Item::goods(name, self.shop.category)).await;
        let application = self.shop.customer.app.application_id;
        stock_fixture
            .run(format!(
                "UPDATE nomenclatures SET kind_id = 1, is_subscription = TRUE, price = {price}, \
                 billing_period_months = {months} WHERE id = {item}"
            ))
            .await;
        stock_fixture
            .run(format!(
                "INSERT INTO subscription_nomenclatures (project_id, application_id, nomenclature_id, plan_slug, position, \
                 is_active, created_at, updated_at) VALUES ({}, {application}, {item}, 'plan-{item}', 1, TRUE, \
                 '2026-01-01 00:00:00', '2026-01-01 00:00:00')",
                stock_fixture.project
            ))
            .await;
        item
    }

    pub fn purchase(plans: &[i64], saved_method: Option<SavedMethodId>) -> Purchase {
        let plans = plans.iter().map(|plan| PlanChoice::Item(NomenclatureId::new(*plan).unwrap())).collect();
        Purchase { plans, pays_by: PaymentMethod::BankCard, saved_method }
    }

    pub async fn check_out(&self, customer: CustomerScope, plans: &[i64]) -> Result<Checkout, SubscriptionError> {
        let agreement = Agreement { address: Some("10.0.0.7".to_owned()) };
        self.service.check_out(customer, &Self::purchase(plans, None), &agreement).await
    }

    pub async fn at_once(
        &self,
        customer: CustomerScope,
        plan: i64,
        method: SavedMethodId,
    ) -> Result<SubscriptionView, SubscriptionError> {
        let purchase = Self::purchase(&[plan], Some(method));
        self.service.charge_at_once(customer, &purchase, &Agreement::default()).await
    }

    /// The last payment succeeds or fails, and the acquirer sends the notification.
    pub async fn settle(&self, status: GatewayStatus) {
        let id = self.shop.acquirer.settle(status);
        self.shop.payments.handle_notification(&id, None).await.unwrap();
    }

    /// The customer subscribes to the plan and pays.
    pub async fn subscribed(&self, customer: CustomerScope, plan: i64) -> SubscriptionId {
        let acquirer_mode = *self.shop.acquirer.mode.lock().unwrap();
        self.shop.acquirer.set_mode(AcquirerMode::Pending);
        let checkout = self.check_out(customer, &[plan]).await.unwrap();
        self.settle(GatewayStatus::Succeeded).await;
        self.shop.acquirer.set_mode(acquirer_mode);
        checkout.payment.subscriptions[0].subscription.id
    }

    pub async fn method(&self, customer: CustomerScope) -> SavedMethodId {
        let methods = SavedMethodStore::list(&self.shop.stock_fixture.db.database, customer).await.unwrap();
        methods[0].id
    }

    pub async fn see(&self, id: SubscriptionId) -> SubscriptionView {
        self.see_as(self.shop.customer, id).await.unwrap()
    }

    pub async fn see_as(&self, customer: CustomerScope, id: SubscriptionId) -> Option<SubscriptionView> {
        let store = &self.shop.stock_fixture.db.database;
        SubscriptionStore::find(store, customer, id, self.shop.clock.now()).await.unwrap()
    }

    /// Status, end of the paid period, next charge.
    pub async fn standing(&self, id: SubscriptionId) -> (String, Option<String>, Option<String>) {
        let one = self.see(id).await.subscription;
        let day = |moment: DateTime<Utc>| moment.format("%Y-%m-%d").to_string();
        (one.status.to_string(), one.period.map(|period| day(period.end)), one.next_charge_at.map(day))
    }

    pub fn go_to(&self, moment: &str) {
        let moment: DateTime<Utc> = moment.parse().unwrap();
        let now = self.shop.clock.now();
        assert!(moment >= now, "time goes forward");
        self.shop.clock.advance(moment - now);
    }

    /// Runs the scheduler and the worker of charges once.
    pub async fn tick(&self) -> u32 {
        let ran = self.scheduler.run(1_000).await.unwrap();
        assert!(ran.failed.is_empty(), "{:?}", ran.failed);
        self.shop.payments.reconcile("w", 1_000).await.unwrap();
        ran.charged
    }

    /// Month and day.
    pub fn today(&self) -> String {
        self.shop.clock.now().format("%m-%d").to_string()
    }

    pub fn elsewhere(&self, application: ApplicationId) -> CustomerScope {
        let mut customer = self.shop.customer;
        customer.app.application_id = application;
        customer
    }

    /// Staff with every permission of the project.
    pub fn staff(&self) -> Staff {
        Staff {
            project_id: self.shop.customer.app.project_id,
            user_id: UserId::new(1).unwrap(),
            token_id: TokenId::new(1).unwrap(),
            is_agent: false,
            permissions: Permission::all().collect(),
        }
    }

    /// Service for staff.
    pub fn staff_subscriptions(&self) -> StaffSubscriptions {
        let store = Arc::new(self.shop.stock_fixture.db.database.clone());
        StaffSubscriptions {
            register: store.clone(),
            store,
            charges: self.shop.payments.clone(),
            clock: self.shop.clock.clone(),
            random: self.shop.random.clone(),
        }
    }

    /// All subscriptions of a customer.
    pub async fn of_customer(&self, customer: CustomerScope) -> Vec<SubscriptionView> {
        self.service.list(customer, PageRequest::new(1, 100, 100).unwrap()).await.unwrap()
    }

    /// Service for the orders of the payments.
    pub fn orders(&self) -> OrderService {
        let store = Arc::new(self.shop.stock_fixture.db.database.clone());
        let (clock, random) = (self.shop.clock.clone(), self.shop.random.clone());
        OrderService { orders: store.clone(), store, clock, random }
    }

    pub async fn notices(&self) -> Vec<String> {
        let database = &self.shop.stock_fixture.db.database;
        let page = PageRequest::new(1, 100, 100).unwrap();
        let reader: &dyn kontor_customers::ports::NotificationReader = database;
        let page = reader.page(self.shop.customer, page).await.unwrap();
        page.items.into_iter().rev().map(|notice| notice.code).collect()
    }
}
