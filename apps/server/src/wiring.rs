//! Which adapter stands behind which port.

use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use kontor_adapter_diesel::Database;
use kontor_auth::{CustomerGuard, StaffGuard};
use kontor_catalog::model::{Brand, Category};
use kontor_catalog::{
    AssortmentService, BrandService, CategoryService, InventoryService, NomenclatureService, WarehouseService,
};
use kontor_auth::model::TokenLifetimes;
use kontor_auth::ports::{CodeSender, PasswordHasher};
use kontor_auth::{CustomerGuard, CustomerSessions, StaffGuard, StaffSessions};
use kontor_customers::ProfileService;
use kontor_kernel::{Clock, Random, RateLimiter, SecretKeeper};
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
    /// Hashing of passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// One-time codes to customers.
    pub codes: Arc<dyn CodeSender>,
    /// How long tokens live.
    pub lifetimes: TokenLifetimes,
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
    staff_sessions: Data<StaffSessions>,
    customer_sessions: Data<CustomerSessions>,
    profiles: Data<ProfileService>,
    branches: Data<BranchService>,
    applications: Data<ApplicationService>,
    webhooks: Data<WebhookService>,
    deliveries: Data<DeliveryService>,
    dictionaries: Data<DictionaryService>,
    checkout_options: Data<CheckoutOptions>,
    shops: Data<ShopService>,
    categories: Data<CategoryService>,
    brands: Data<BrandService>,
    shown_categories: Data<AssortmentService<Category>>,
    shown_brands: Data<AssortmentService<Brand>>,
    warehouses: Data<WarehouseService>,
    nomenclatures: Data<NomenclatureService>,
    inventories: Data<InventoryService>,
    webhooks: Data<WebhookService>,
    deliveries: Data<DeliveryService>,
    dictionaries: Data<DictionaryService>,
    checkout_options: Data<CheckoutOptions>,
    shops: Data<ShopService>,
}

impl Services {
    /// Wires everything.
    pub fn new(database: &Database, around: &Surroundings) -> Self {
        let Surroundings { clock, random, keeper, limiter, outbound } = around.clone();
        let Surroundings { clock, random, keeper, limiter, hasher, codes, lifetimes } = around.clone();
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
            dictionaries: Data::new(DictionaryService::new(store.clone(), store.clone())),
            checkout_options: Data::new(CheckoutOptions::new(store.clone())),
            shops: Data::new(ShopService::new(store.clone())),
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
            .app_data(self.staff_sessions.clone())
            .app_data(self.customer_sessions.clone())
            .app_data(self.profiles.clone())
            .app_data(self.branches.clone())
            .app_data(self.applications.clone())
            .app_data(self.webhooks.clone())
            .app_data(self.deliveries.clone())
            .app_data(self.dictionaries.clone())
            .app_data(self.checkout_options.clone())
            .app_data(self.shops.clone())
            .app_data(self.categories.clone())
            .app_data(self.brands.clone())
            .app_data(self.shown_categories.clone())
            .app_data(self.shown_brands.clone())
            .app_data(self.warehouses.clone())
            .app_data(self.nomenclatures.clone())
            .app_data(self.inventories.clone())
            .app_data(self.inventories.clone())
            .app_data(self.webhooks.clone())
            .app_data(self.deliveries.clone())
            .app_data(self.dictionaries.clone())
            .app_data(self.checkout_options.clone())
            .app_data(self.shops.clone());
    }
}
