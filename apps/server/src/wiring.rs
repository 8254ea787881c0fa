//! Which adapter stands behind which port.

use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use kontor_adapter_diesel::Database;
use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_auth::{CustomerGuard, StaffGuard};
use kontor_catalog::model::{Brand, Category};
use kontor_catalog::spreadsheet::SpreadsheetService;
use kontor_catalog::storefront::StorefrontService;
use kontor_catalog::{
    AssortmentService, BrandService, CategoryService, InventoryService, NomenclatureService, WarehouseService,
};
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
    categories: Data<CategoryService>,
    brands: Data<BrandService>,
    shown_categories: Data<AssortmentService<Category>>,
    shown_brands: Data<AssortmentService<Brand>>,
    warehouses: Data<WarehouseService>,
    nomenclatures: Data<NomenclatureService>,
    inventories: Data<InventoryService>,
    storefront: Data<StorefrontService>,
    spreadsheets: Data<SpreadsheetService>,
}

impl Services {
    /// Wires everything.
    pub fn new(database: &Database, around: &Surroundings) -> Self {
        let Surroundings { clock, random, keeper, limiter, outbound } = around.clone();
        let store = Arc::new(database.clone());
        let sheets = Arc::new(Spreadsheets::default());
        Self {
            throttle: Data::new(Throttle::new(limiter.clone())),
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
            categories: Data::new(CategoryService::new(store.clone(), clock.clone())),
            brands: Data::new(BrandService::new(store.clone(), clock.clone())),
            shown_categories: Data::new(AssortmentService::new(store.clone(), store.clone())),
            shown_brands: Data::new(AssortmentService::new(store.clone(), store.clone())),
            warehouses: Data::new(WarehouseService::new(store.clone(), clock.clone())),
            nomenclatures: Data::new(NomenclatureService::new(store.clone(), clock.clone())),
            inventories: Data::new(InventoryService::new(store.clone(), clock.clone())),
            storefront: Data::new(StorefrontService::new(store.clone(), store.clone(), limiter, clock.clone())),
            spreadsheets: Data::new(SpreadsheetService::new(
                sheets.clone(),
                sheets,
                store.clone(),
                store.clone(),
                clock.clone(),
            )),
            applications: Data::new(ApplicationService::new(store, clock, random, keeper)),
        }
    }

    /// The storefront, whose views are stored beside the requests.
    pub fn storefront(&self) -> Arc<StorefrontService> {
        self.storefront.clone().into_inner()
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
            .app_data(self.categories.clone())
            .app_data(self.brands.clone())
            .app_data(self.shown_categories.clone())
            .app_data(self.shown_brands.clone())
            .app_data(self.warehouses.clone())
            .app_data(self.nomenclatures.clone())
            .app_data(self.inventories.clone())
            .app_data(self.storefront.clone())
            .app_data(self.spreadsheets.clone());
    }
}
