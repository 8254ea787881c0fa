//! Which adapter stands behind which port.

use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use kontor_adapter_diesel::Database;
use kontor_auth::{CustomerGuard, StaffGuard};
use kontor_kernel::{Clock, Random, RateLimiter, SecretKeeper};
use kontor_orders::ports::PaymentGateway;
use kontor_orders::{OrderService, PaymentPage, PaymentService, PlacementService};
use kontor_organization::{ApplicationService, BranchService, CheckoutOptions, DictionaryService, ShopService};
use kontor_webhooks::model::OutboundPolicy;
use kontor_webhooks::{DeliveryService, WebhookService};

use crate::http::Throttle;

/// The ports that are not persistence.
#[derive(Clone)]
pub struct Surroundings {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Hashing and sealing of secrets.
    pub keeper: Arc<dyn SecretKeeper>,
    /// Counters of rate limits.
    pub limiter: Arc<dyn RateLimiter>,
    /// Where webhooks may lead.
    pub outbound: OutboundPolicy,
    /// The acquirer.
    pub acquirer: Arc<dyn PaymentGateway>,
    /// Where payers come back to.
    pub payment_page: PaymentPage,
}

impl Surroundings {
    /// The use cases of payments, for requests and for the worker.
    pub fn payments(&self, database: &Database) -> Arc<PaymentService> {
        let store = Arc::new(database.clone());
        Arc::new(PaymentService::new(store, self.acquirer.clone(), self.clock.clone(), self.random.clone()))
    }
}

/// Every service of every domain, ready to be shared by the HTTP threads.
#[derive(Clone)]
pub struct Services {
    throttle: Data<Throttle>,
    random: Data<Arc<dyn Random>>,
    clock: Data<Arc<dyn Clock>>,
    database: Data<Database>,
    staff_guard: Data<StaffGuard>,
    customer_guard: Data<CustomerGuard>,
    branches: Data<BranchService>,
    applications: Data<ApplicationService>,
    webhooks: Data<WebhookService>,
    deliveries: Data<DeliveryService>,
    dictionaries: Data<DictionaryService>,
    checkout_options: Data<CheckoutOptions>,
    shops: Data<ShopService>,
    payments: Data<PaymentService>,
    placement: Data<PlacementService>,
    orders: Data<OrderService>,
}

impl Services {
    /// Wires everything.
    pub fn new(database: &Database, around: &Surroundings) -> Self {
        let payments = around.payments(database);
        let Surroundings { clock, random, keeper, limiter, outbound, payment_page, .. } = around.clone();
        let store = Arc::new(database.clone());
        Self {
            throttle: Data::new(Throttle::new(limiter)),
            random: Data::new(random.clone()),
            clock: Data::new(clock.clone()),
            database: Data::new(database.clone()),
            staff_guard: Data::new(StaffGuard::new(store.clone(), clock.clone(), keeper.clone())),
            customer_guard: Data::new(CustomerGuard::new(store.clone(), clock.clone(), keeper.clone())),
            deliveries: Data::new(DeliveryService::new(store.clone(), store.clone(), clock.clone())),
            webhooks: Data::new(WebhookService::new(
                store.clone(),
                outbound,
                clock.clone(),
                random.clone(),
                keeper.clone(),
            )),
            branches: Data::new(BranchService::new(store.clone(), clock.clone())),
            dictionaries: Data::new(DictionaryService::new(store.clone(), store.clone())),
            checkout_options: Data::new(CheckoutOptions::new(store.clone())),
            shops: Data::new(ShopService::new(store.clone())),
            placement: Data::new(PlacementService::new(
                store.clone(),
                store.clone(),
                store.clone(),
                payments.clone(),
                clock.clone(),
                random.clone(),
                payment_page,
            )),
            payments: Data::from(payments),
            orders: Data::new(OrderService::new(store.clone(), store.clone(), clock.clone(), random.clone())),
            applications: Data::new(ApplicationService::new(store, clock, random, keeper)),
        }
    }

    /// Makes the services available to extractors and handlers.
    pub fn register(&self, config: &mut ServiceConfig) {
        config
            .app_data(self.throttle.clone())
            .app_data(self.random.clone())
            .app_data(self.clock.clone())
            .app_data(self.database.clone())
            .app_data(self.staff_guard.clone())
            .app_data(self.customer_guard.clone())
            .app_data(self.branches.clone())
            .app_data(self.applications.clone())
            .app_data(self.webhooks.clone())
            .app_data(self.deliveries.clone())
            .app_data(self.dictionaries.clone())
            .app_data(self.checkout_options.clone())
            .app_data(self.shops.clone())
            .app_data(self.payments.clone())
            .app_data(self.placement.clone())
            .app_data(self.orders.clone());
    }
}
