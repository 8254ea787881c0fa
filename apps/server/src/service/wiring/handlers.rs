//! Services that handlers take as arguments.

use std::sync::Arc;

use actix_web::web::{Data, ServiceConfig};
use kontor_adapter_diesel::Database;
use kontor_auth::{
    AccessRequestService, AgentService, Heartbeats, Introspection, KnownAddresses, PermissionService, RoleService,
    StaffDirectory,
};
use kontor_catalog::model::{Brand, Category};
use kontor_catalog::storefront::{FavouriteService, ShowcaseService, StorefrontPlanService, StorefrontService};
use kontor_catalog::{
    BrandService, CategoryService, DiscountService, InventoryService, NomenclatureService, PlanService,
    PromotionService, TagService, WarehouseService,
};
use kontor_content::model::{Block, MenuItem, Slide};
use kontor_content::{PageHistory, PageService, PartViewer};
use kontor_customers::model::CustomerContact;
use kontor_customers::{NotificationService, ProfileService, StaffCustomerService};
use kontor_kernel::{BankRequisite, ChangeService};
use kontor_orders::reports::ReportService;
use kontor_orders::{OrderService, ReservationService};
use kontor_organization::{
    ApplicationService, BranchHistory, BranchRequisiteService, BranchService, CheckoutOptions, DepartmentService,
    DictionaryService, IntegrationService, OpeningTimesService, PaymentChoiceService, PaymentTypeHistory,
    PaymentTypeService, ProjectSettingsService, ShopHistory, ShopService, StaffMenuService, StaffShopService,
    TaskService,
};
use kontor_payments::SavedMethodService;
use kontor_web::request_services::ServiceSource;
use kontor_webhooks::DeliveryService;

use super::Adapters;
use super::factory::ServiceFactory;

/// Adds a service to the data of an HTTP thread.
type Register = dyn Fn(&mut ServiceConfig) + Send + Sync;

/// Services that handlers take as [`Service`](kontor_web::Service). Each is created over the database handle of a
/// request, so it keeps nothing in memory.
#[derive(Clone)]
pub struct HandlerServices {
    database: Database,
    around: Arc<Adapters>,
    registers: Vec<Arc<Register>>,
}

impl HandlerServices {
    /// Creates the services of all domains.
    pub fn new(database: Database, around: Arc<Adapters>, storefront: Arc<StorefrontService>) -> Self {
        let mut all = Self { database, around, registers: Vec::new() };
        all.access();
        all.catalog(storefront);
        all.sales();
        all.organization();
        all.content();
        all
    }

    /// Makes the services available to handlers.
    pub fn register(&self, config: &mut ServiceConfig) {
        for register in &self.registers {
            register(config);
        }
    }

    fn add<T: Send + Sync + 'static>(&mut self, create: impl Fn(&ServiceFactory) -> T + Send + Sync + 'static) {
        let around = Arc::clone(&self.around);
        let create = move |handle| create(&ServiceFactory::new(handle, Arc::clone(&around)));
        let source = Data::new(ServiceSource::new(self.database.clone(), create));
        let register = move |config: &mut ServiceConfig| {
            config.app_data(source.clone());
        };
        self.registers.push(Arc::new(register));
    }

    fn access(&mut self) {
        self.add(ServiceFactory::staff_sessions);
        self.add(|make| KnownAddresses { addresses: make.store(), clock: make.clock(), cipher: make.cipher() });
        self.add(ServiceFactory::temporary_passwords);
        self.add(ServiceFactory::employees);
        self.add(|make| RoleService { roles: make.store(), clock: make.clock() });
        self.add(|make| PermissionService { permissions: make.store() });
        self.add(|make| StaffDirectory { directory: make.store() });
        self.add(ServiceFactory::customer_sessions);
        self.add(|make| Heartbeats { sessions: make.store(), clock: make.clock() });
        self.add(|make| Introspection { clients: make.store(), clock: make.clock(), cipher: make.cipher() });
        self.add(ServiceFactory::miniapps);
        self.add(ServiceFactory::callback_login);
        self.add(|make| AgentService {
            agents: make.store(),
            clock: make.clock(),
            random: make.random(),
            cipher: make.cipher(),
        });
        self.add(|make| AccessRequestService {
            requests: make.store(),
            clock: make.clock(),
            random: make.random(),
            cipher: make.cipher(),
        });
        self.add(ServiceFactory::agent_actions);
        self.add(ServiceFactory::phone_change);
        self.add(|make| ProfileService { customers: make.store(), clock: make.clock() });
        self.add(|make| NotificationService { notifications: make.store() });
        self.add(|make| StaffCustomerService { customers: make.store(), histories: make.store(), clock: make.clock() });
        self.add(ServiceFactory::customer_parts::<CustomerContact>);
        self.add(ServiceFactory::customer_parts::<BankRequisite>);
    }

    fn catalog(&mut self, storefront: Arc<StorefrontService>) {
        self.add(|make| CategoryService { categories: make.store(), histories: make.store(), clock: make.clock() });
        self.add(|make| BrandService::new(make.store(), make.clock()));
        self.add(|make| TagService { tags: make.store(), clock: make.clock() });
        self.add(ServiceFactory::assortment::<Category>);
        self.add(ServiceFactory::assortment::<Brand>);
        self.add(|make| PlanService { plans: make.store(), applications: make.store(), clock: make.clock() });
        self.add(|make| WarehouseService { warehouses: make.store(), histories: make.store(), clock: make.clock() });
        self.add(|make| NomenclatureService {
            nomenclatures: make.store(),
            histories: make.store(),
            clock: make.clock(),
        });
        self.add(|make| InventoryService { inventories: make.store(), clock: make.clock() });
        self.add(|make| DiscountService { discounts: make.store(), clock: make.clock() });
        self.add(|make| PromotionService { promotions: make.store(), clock: make.clock() });
        self.add(ServiceFactory::spreadsheets);
        self.add(ServiceFactory::import_columns);
        self.add(ServiceFactory::bulk);
        self.add(move |make| {
            let (favourites, storefront) = (make.store(), Arc::clone(&storefront));
            FavouriteService { favourites, storefront, clock: make.clock() }
        });
        self.add(|make| ShowcaseService { showcase: make.store(), cleaner: make.cleaner(), clock: make.clock() });
        self.add(|make| StorefrontPlanService { shelf: make.store(), cleaner: make.cleaner() });
        self.add(|make| ChangeService { log: make.store(), clock: make.clock() });
    }

    fn sales(&mut self) {
        self.add(ServiceFactory::placement);
        self.add(|make| OrderService {
            orders: make.store(),
            store: make.store(),
            clock: make.clock(),
            random: make.random(),
        });
        self.add(ServiceFactory::tickets);
        self.add(|make| ReservationService { reservations: make.store(), orders: make.store() });
        self.add(|make| ReportService { reports: make.store() });
        self.add(ServiceFactory::charges);
        self.add(ServiceFactory::refunds);
        self.add(ServiceFactory::verifications);
        self.add(|make| SavedMethodService { methods: make.store(), clock: make.clock() });
        self.add(ServiceFactory::subscriptions);
        self.add(ServiceFactory::staff_subscriptions);
        self.add(ServiceFactory::method_changes);
        self.add(ServiceFactory::webhooks);
        self.add(|make| DeliveryService {
            webhooks: make.store(),
            deliveries: make.store(),
            clock: make.clock(),
            random: make.random(),
        });
    }

    fn organization(&mut self) {
        self.add(|make| ApplicationService {
            applications: make.store(),
            histories: make.store(),
            clock: make.clock(),
            random: make.random(),
            cipher: make.cipher(),
        });
        self.add(|make| BranchService::new(make.store(), make.clock()));
        self.add(|make| BranchHistory::new(make.store(), make.store()));
        self.add(|make| BranchRequisiteService {
            branches: make.store(),
            requisites: make.store(),
            clock: make.clock(),
        });
        self.add(|make| DepartmentService::new(make.store(), make.clock()));
        self.add(|make| DictionaryService { dictionaries: make.store(), options: make.store() });
        self.add(|make| PaymentTypeService::new(make.store(), make.clock()));
        self.add(|make| PaymentTypeHistory::new(make.store(), make.store()));
        self.add(|make| PaymentChoiceService { options: make.store(), clock: make.clock() });
        self.add(|make| ProjectSettingsService {
            settings: make.store(),
            histories: make.store(),
            clock: make.clock(),
        });
        self.add(|make| CheckoutOptions { options: make.store() });
        self.add(|make| IntegrationService { integrations: make.store(), clock: make.clock(), cipher: make.cipher() });
        self.add(|make| ShopService { shops: make.store() });
        self.add(|make| StaffShopService::new(make.store(), make.clock()));
        self.add(|make| ShopHistory::new(make.store(), make.store()));
        self.add(|make| OpeningTimesService { shops: make.store(), times: make.store(), clock: make.clock() });
        self.add(|make| StaffMenuService { menus: make.store(), clock: make.clock() });
        self.add(|make| TaskService::new(make.store(), make.clock()));
    }

    fn content(&mut self) {
        self.add(ServiceFactory::files);
        self.add(|make| PageService::new(make.store(), make.clock()));
        self.add(|make| PageHistory::new(make.store(), make.store()));
        self.add(ServiceFactory::parts::<Block>);
        self.add(ServiceFactory::parts::<MenuItem>);
        self.add(ServiceFactory::part_order::<MenuItem>);
        self.add(ServiceFactory::parts::<Slide>);
        self.add(ServiceFactory::part_order::<Slide>);
        self.add(|make| PartViewer { parts: make.store(), cleaner: make.cleaner() });
    }
}
