//! Which adapter stands behind which port.

use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use chrono::TimeDelta;
use kontor_adapter_acquirer::{AcquirerClient, AcquirerConfig, ClientError};
use kontor_adapter_diesel::Database;
use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_auth::model::TokenLifetimes;
use kontor_auth::ports::{CodeSender, HashingFailed, PasswordHasher};
use kontor_auth::{CustomerGuard, CustomerSessions, StaffGuard, StaffSessions};
use kontor_catalog::model::{Brand, Category};
use kontor_catalog::spreadsheet::SpreadsheetService;
use kontor_catalog::storefront::StorefrontService;
use kontor_catalog::{
    AssortmentService, BrandService, CategoryService, InventoryService, NomenclatureService, WarehouseService,
};
use kontor_customers::ProfileService;
use kontor_kernel::{Clock, Random, RateLimiter, SecretKeeper};
use kontor_orders::ports::PaymentGateway;
use kontor_orders::{OrderService, PaymentPage, PaymentService, PlacementService};
use kontor_organization::{ApplicationService, BranchService, CheckoutOptions, DictionaryService, ShopService};
use kontor_webhooks::model::OutboundPolicy;
use kontor_webhooks::{DeliveryService, WebhookService};

use crate::adapters::{Argon2Passwords, ServiceKey, SystemRandom};
use crate::config::{Config, ConfigError};
use crate::counters::Counters;
use crate::http::Throttle;
use crate::messaging::{MessagingError, code_messenger, outbound_policy};

/// The ports that are not persistence.
#[derive(Clone)]
pub struct Surroundings {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Hashing and sealing of secrets.
    pub keeper: Arc<dyn SecretKeeper>,
    /// Where rate limits are counted.
    pub counters: Counters,
    /// The same as a port.
    pub limiter: Arc<dyn RateLimiter>,
    /// Where webhooks may lead.
    pub outbound: OutboundPolicy,
    /// Hashing of passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// One-time codes to customers.
    pub codes: Arc<dyn CodeSender>,
    /// How long tokens live.
    pub lifetimes: TokenLifetimes,
    /// The acquirer.
    pub acquirer: Arc<dyn PaymentGateway>,
    /// Where payers come back to.
    pub payment_page: PaymentPage,
}

/// Why the surroundings cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SurroundingsError {
    /// Messages cannot be sent.
    #[error(transparent)]
    Messaging(#[from] MessagingError),
    /// Passwords cannot be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// A setting is unfit.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The acquirer cannot be called.
    #[error(transparent)]
    Acquirer(#[from] ClientError),
}

impl Surroundings {
    /// The adapters that the configuration asks for.
    pub fn new(config: &Config, clock: Arc<dyn Clock>) -> Result<Self, SurroundingsError> {
        let random: Arc<dyn Random> = Arc::new(SystemRandom::new());
        let acquirer =
            AcquirerConfig::new(&config.acquirer_url, &config.acquirer_shop_id, config.acquirer_secret_key.clone());
        let keeper: Arc<dyn SecretKeeper> = Arc::new(ServiceKey::new(&config.secret_key, random.clone()));
        let counters = Counters::new(config, clock.clone(), keeper.clone())?;
        Ok(Self {
            acquirer: Arc::new(AcquirerClient::new(acquirer)?),
            payment_page: PaymentPage { return_url: config.acquirer_return_url.clone() },
            keeper,
            limiter: counters.limiter(),
            counters,
            outbound: outbound_policy(config),
            hasher: Arc::new(Argon2Passwords::new(random.clone())?),
            codes: Arc::new(code_messenger(config)?),
            lifetimes: TokenLifetimes {
                staff: TimeDelta::hours(config.staff_token_hours.into()),
                customer: TimeDelta::hours(config.customer_token_hours.into()),
            },
            clock,
            random,
        })
    }

    /// The use cases of payments, for requests and for the worker.
    pub fn payments(&self, database: &Database) -> Arc<PaymentService> {
        let store = Arc::new(database.clone());
        Arc::new(PaymentService::new(store, self.acquirer.clone(), self.clock.clone(), self.random.clone()))
    }
}

/// The services that handlers and extractors find by their type.
macro_rules! services {
    ($($name:ident: $service:ty,)+) => {
        /// Every service of every domain, shared by the HTTP threads.
        #[derive(Clone)]
        pub struct Services {
            $($name: Data<$service>,)+
        }

        impl Services {
            /// Makes the services available to extractors and handlers.
            pub fn register(&self, config: &mut ServiceConfig) {
                $(config.app_data(self.$name.clone());)+
            }
        }
    };
}

services! {
    throttle: Throttle,
    counters: Counters,
    random: Arc<dyn Random>,
    clock: Arc<dyn Clock>,
    database: Database,
    staff_guard: StaffGuard,
    customer_guard: CustomerGuard,
    staff_sessions: StaffSessions,
    customer_sessions: CustomerSessions,
    profiles: ProfileService,
    branches: BranchService,
    applications: ApplicationService,
    dictionaries: DictionaryService,
    checkout_options: CheckoutOptions,
    shops: ShopService,
    categories: CategoryService,
    brands: BrandService,
    shown_categories: AssortmentService<Category>,
    shown_brands: AssortmentService<Brand>,
    warehouses: WarehouseService,
    nomenclatures: NomenclatureService,
    inventories: InventoryService,
    storefront: StorefrontService,
    spreadsheets: SpreadsheetService,
    webhooks: WebhookService,
    deliveries: DeliveryService,
    payments: PaymentService,
    placement: PlacementService,
    orders: OrderService,
}

impl Services {
    /// Wires everything.
    pub fn new(database: &Database, around: &Surroundings) -> Self {
        let payments = around.payments(database);
        let Surroundings {
            clock,
            random,
            keeper,
            counters,
            limiter,
            outbound,
            hasher,
            codes,
            lifetimes,
            payment_page,
            ..
        } = around.clone();
        let store = Arc::new(database.clone());
        let sheets = Arc::new(Spreadsheets::default());
        Self {
            throttle: Data::new(Throttle::new(limiter.clone())),
            counters: Data::new(counters),
            storefront: Data::new(StorefrontService::new(store.clone(), store.clone(), limiter, clock.clone())),
            spreadsheets: Data::new(SpreadsheetService::new(
                sheets.clone(),
                sheets,
                store.clone(),
                store.clone(),
                clock.clone(),
            )),
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
            staff_sessions: Data::new(StaffSessions::new(
                store.clone(),
                store.clone(),
                hasher,
                clock.clone(),
                random.clone(),
                keeper.clone(),
                lifetimes,
            )),
            customer_sessions: Data::new(CustomerSessions::new(
                store.clone(),
                store.clone(),
                store.clone(),
                codes,
                clock.clone(),
                random.clone(),
                keeper.clone(),
                lifetimes,
            )),
            profiles: Data::new(ProfileService::new(store.clone())),
            branches: Data::new(BranchService::new(store.clone(), clock.clone())),
            dictionaries: Data::new(DictionaryService::new(store.clone(), store.clone())),
            checkout_options: Data::new(CheckoutOptions::new(store.clone())),
            shops: Data::new(ShopService::new(store.clone())),
            categories: Data::new(CategoryService::new(store.clone(), clock.clone())),
            brands: Data::new(BrandService::new(store.clone(), clock.clone())),
            shown_categories: Data::new(AssortmentService::new(store.clone(), store.clone())),
            shown_brands: Data::new(AssortmentService::new(store.clone(), store.clone())),
            warehouses: Data::new(WarehouseService::new(store.clone(), clock.clone())),
            nomenclatures: Data::new(NomenclatureService::new(store.clone(), clock.clone())),
            inventories: Data::new(InventoryService::new(store.clone(), clock.clone())),
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

    /// The storefront, whose views are stored beside the requests.
    pub fn storefront(&self) -> Arc<StorefrontService> {
        self.storefront.clone().into_inner()
    }
}
