//! Wiring of adapters to ports.

mod make;

use std::sync::Arc;

use actix_web::dev::Extensions;
use actix_web::web::{Data, ServiceConfig};
use chrono::TimeDelta;
use kontor_adapter_acquirer::{AcquirerClient, AcquirerConfig, ClientError};
use kontor_adapter_diesel::Database;
use kontor_adapter_files::FileStorage;
use kontor_adapter_messaging::{HmacSigner, HttpWebhookSender};
use kontor_adapter_suggest::{ClientError as SuggestClientError, SuggestSettings, Suggestions};
use kontor_auth::miniapp::MiniAppLogin;
use kontor_auth::model::TokenLifetimes;
use kontor_auth::ports::{
    CallNotificationParser, CallVerifier, CodeSender, HashingFailed, PasswordHasher, PasswordSender,
};
use kontor_auth::{
    AccessRequestService, AgentActionService, AgentService, CallbackLogin, CustomerGuard, CustomerSessions,
    EmployeeService, Heartbeats, Introspection, KnownAddresses, PermissionService, PhoneChange, RoleService,
    StaffDirectory, StaffGuard, StaffSessions, TemporaryPasswords,
};
use kontor_catalog::bulk::BulkService;
use kontor_catalog::bulk::ports::UploadStore;
use kontor_catalog::model::{Brand, Category};
use kontor_catalog::spreadsheet::{ImportColumns, SpreadsheetService};
use kontor_catalog::storefront::{
    FavouriteService, SearchHistory, ShowcaseService, StorefrontPlanService, StorefrontService,
};
use kontor_catalog::{
    AssortmentService, BrandService, CategoryService, InventoryService, NomenclatureService, TagService,
    WarehouseService,
};
use kontor_catalog::{DiscountService, PlanService, PromotionService};
use kontor_content::model::{Block, MenuItem, Slide};
use kontor_content::{
    FileService, FileSweeper, PageHistory, PageService, PageViewer, PartOrderService, PartService, PartViewer,
};
use kontor_customers::model::CustomerContact;
use kontor_customers::{CustomerPartService, NotificationService, ProfileService, StaffCustomerService};
use kontor_kernel::{BankRequisite, ChangeService, Clock, HtmlCleaner, Random, RateLimiter, SecretCipher};
use kontor_orders::reports::ReportService;
use kontor_orders::tickets::TicketService;
use kontor_orders::{OrderService, PaymentPage, PlacementService, ReservationService};
use kontor_organization::{
    ApplicationService, BranchHistory, BranchRequisiteService, BranchService, CheckoutOptions, DepartmentService,
    DictionaryService, IntegrationService, OpeningTimesService, PaymentChoiceService, PaymentTypeService,
    ProjectSettingsService, ShopHistory, ShopService, StaffMenuService, StaffShopService, TaskMailWorker, TaskService,
};
use kontor_payments::ports::PaymentGateway;
use kontor_payments::verification::{VerificationService, VerificationTerms};
use kontor_payments::{ChargeService, ReceiptService, RefundService, SavedMethodService};
use kontor_subscriptions::ports::SubscriptionForecastReader;
use kontor_subscriptions::{MethodChangeService, Pace, StaffSubscriptions, SubscriptionScheduler, SubscriptionService};
use kontor_webhooks::model::OutboundPolicy;
use kontor_webhooks::{DeliveryService, DeliveryWorker, WebhookService};

use self::make::Make;
use kontor_organization::SuggestionService;
use kontor_organization::ports::{SuggestionProvider, TaskMailSender};

use super::background_writes::BufferedWrites;
use super::counters::Counters;
use super::messaging::{MessagingError, call_checks, code_messenger, mailer, outbound_policy};
use crate::adapters::{Argon2Passwords, FolderUploads, HtmlAllowList, ServiceKey, SystemRandom};
use crate::config::{Config, ConfigError};
use kontor_web::idempotency::IdempotencyStore;
use kontor_web::limits::LimitSettings;
use kontor_web::request_services::ServiceFactory;
use kontor_web::response_cache::ResponseCache;
use kontor_web::{RefusalLog, Throttle};

/// Adapters of all ports except persistence.
#[derive(Clone)]
pub struct Adapters {
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Hashing and encryption of secrets.
    pub cipher: Arc<dyn SecretCipher>,
    /// Storage of rate limit counters.
    pub counters: Counters,
    /// Same storage as a port.
    pub limiter: Arc<dyn RateLimiter>,
    /// Settings that change limits.
    pub limits: LimitSettings,
    /// Policy for webhook targets.
    pub outbound: OutboundPolicy,
    /// Hashing of passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// Sending of one-time codes to customers.
    pub codes: Arc<dyn CodeSender>,
    /// Sending of temporary passwords to employees.
    pub passwords: Arc<dyn PasswordSender>,
    /// E-mails to employees about tasks.
    pub task_mail: Arc<dyn TaskMailSender>,
    /// Calls that verify a phone.
    pub calls: Arc<dyn CallVerifier>,
    /// Notifications of the telephony provider.
    pub call_notices: Arc<dyn CallNotificationParser>,
    /// Lifetimes of tokens.
    pub lifetimes: TokenLifetimes,
    /// Maximum age of a contact signed by a messenger.
    pub contact_lifetime: TimeDelta,
    /// Acquirer.
    pub acquirer: Arc<dyn PaymentGateway>,
    /// Page that payers return to.
    pub payment_page: PaymentPage,
    /// Price of a verification, which is refunded.
    pub verification: VerificationTerms,
    /// Version of the text of consent to recurring charges that customers are shown.
    pub consent_text: String,
    /// Maximum number of subscriptions that a worker charges per second.
    pub charges_per_second: u32,
    /// Removal of scripts and styles from HTML that staff write.
    pub cleaner: Arc<dyn HtmlCleaner>,
    /// Provider of addresses, banks and companies.
    pub suggestions: Arc<dyn SuggestionProvider>,
    /// Storage of file contents.
    pub files: FileStorage,
    /// Storage of the files of jobs.
    pub uploads: Arc<dyn UploadStore>,
}

/// Reason why the adapters cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum AdaptersError {
    /// Messages cannot be sent.
    #[error(transparent)]
    Messaging(#[from] MessagingError),
    /// Passwords cannot be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// A setting is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The acquirer cannot be called.
    #[error(transparent)]
    Acquirer(#[from] ClientError),
    /// The provider of suggestions cannot be called.
    #[error(transparent)]
    Suggestions(#[from] SuggestClientError),
}

impl Adapters {
    /// Creates the configured adapters.
    pub fn new(config: &Config, clock: Arc<dyn Clock>) -> Result<Self, AdaptersError> {
        let random: Arc<dyn Random> = Arc::new(SystemRandom::new());
        let calls = Arc::new(call_checks(config)?);
        let acquirer =
            AcquirerConfig::new(&config.acquirer_url, &config.acquirer_shop_id, config.acquirer_secret_key.clone());
        let cipher: Arc<dyn SecretCipher> = Arc::new(ServiceKey::new(&config.secret_key, random.clone()));
        let counters = Counters::new(config, clock.clone(), cipher.clone())?;
        let mail = Arc::new(mailer(config)?);
        Ok(Self {
            acquirer: Arc::new(AcquirerClient::new(acquirer)?),
            uploads: Arc::new(FolderUploads::new(config.imports()?, config.database_mark()?, random.clone())),
            payment_page: PaymentPage { return_url: config.acquirer_return_url.clone() },
            verification: config.verification()?,
            consent_text: config.consent_text()?,
            charges_per_second: config.subscription_charges_per_second,
            cleaner: Arc::new(HtmlAllowList::default()),
            suggestions: Arc::new(Suggestions::new(SuggestSettings {
                base_url: config.suggest_url.clone(),
                api_key: config.suggest_api_key.clone(),
            })?),
            files: config.files()?,
            cipher,
            limiter: counters.limiter(),
            limits: config.limits(),
            counters,
            outbound: outbound_policy(config),
            hasher: Arc::new(Argon2Passwords::new(random.clone())?),
            codes: Arc::new(code_messenger(config)?),
            passwords: mail.clone(),
            task_mail: mail,
            calls: calls.clone(),
            call_notices: calls,
            lifetimes: TokenLifetimes {
                staff: TimeDelta::hours(config.staff_token_hours.into()),
                customer: TimeDelta::hours(config.customer_token_hours.into()),
            },
            contact_lifetime: TimeDelta::seconds(config.miniapp_contact_seconds.into()),
            clock,
            random,
        })
    }

    /// Returns the use cases of charges, for requests and for the worker.
    pub fn charges(&self, database: &Database) -> Arc<ChargeService> {
        let (gateway, clock, random) = (self.acquirer.clone(), self.clock.clone(), self.random.clone());
        Arc::new(ChargeService { charges: Arc::new(database.clone()), gateway, clock, random })
    }

    /// Returns the use cases of refunds, for the worker and for notifications.
    pub fn refunds(&self, database: &Database) -> RefundService {
        let Self { acquirer: gateway, clock, random, .. } = self.clone();
        RefundService { refunds: Arc::new(database.clone()), gateway, clock, random }
    }

    /// Returns the scheduler that charges due subscriptions, for the worker.
    pub fn subscription_scheduler(&self, database: &Database) -> SubscriptionScheduler {
        let Self { clock, random, .. } = self.clone();
        let (charges, pace) = (self.charges(database), Arc::new(Pace::per_second(self.charges_per_second)));
        SubscriptionScheduler { store: Arc::new(database.clone()), charges, clock, random, pace }
    }

    /// Returns the forecasts of subscriptions.
    pub fn subscription_forecasts(database: &Database) -> Arc<dyn SubscriptionForecastReader> {
        Arc::new(database.clone())
    }

    /// Returns the use cases of receipts, for the worker.
    pub fn receipts(&self, database: &Database) -> ReceiptService {
        let Self { acquirer: gateway, clock, .. } = self.clone();
        ReceiptService { receipts: Arc::new(database.clone()), gateway, clock }
    }

    /// Returns the use cases of temporary passwords, for requests and for the worker.
    pub fn temporary_passwords(&self, database: &Database) -> Arc<TemporaryPasswords> {
        let (hasher, sender) = (self.hasher.clone(), self.passwords.clone());
        let (clock, random) = (self.clock.clone(), self.random.clone());
        Arc::new(TemporaryPasswords { requests: Arc::new(database.clone()), hasher, sender, clock, random })
    }

    /// Returns the use cases of agents' calls.
    pub fn agent_actions(&self, database: &Database) -> AgentActionService {
        Make { store: Arc::new(database.clone()), around: self }.agent_actions()
    }

    /// Returns the sender of e-mails about tasks.
    pub fn task_mails(&self, database: &Database) -> TaskMailWorker {
        let Self { task_mail: sender, clock, .. } = self.clone();
        TaskMailWorker { queue: Arc::new(database.clone()), sender, clock }
    }

    /// Returns the sweeper that deletes unused file contents.
    pub fn file_sweeper(&self, database: &Database) -> FileSweeper {
        FileSweeper {
            files: Arc::new(database.clone()),
            contents: Arc::new(self.files.clone()),
            clock: self.clock.clone(),
        }
    }
}

/// Returns the worker that creates deliveries from events and sends them.
pub fn delivery_worker(
    config: &Config,
    database: &Database,
    around: &Adapters,
) -> Result<DeliveryWorker, MessagingError> {
    let sender = Arc::new(HttpWebhookSender::new(outbound_policy(config))?);
    let Adapters { cipher, random, clock, .. } = around.clone();
    let queue = Arc::new(database.clone());
    Ok(DeliveryWorker { queue, sender, signer: Arc::new(HmacSigner), cipher, random, clock })
}

/// Collection that handlers and extractors find services in, by type.
trait Registry {
    fn insert_service<T: 'static>(&mut self, service: Data<T>);
}

impl Registry for ServiceConfig {
    fn insert_service<T: 'static>(&mut self, service: Data<T>) {
        self.app_data(service);
    }
}

impl Registry for Extensions {
    fn insert_service<T: 'static>(&mut self, service: Data<T>) {
        self.insert(service);
    }
}

/// Declares a set of services.
macro_rules! services {
    ($(#[$doc:meta])+ $set:ident; $($name:ident: $service:ty,)+) => {
        $(#[$doc])+
        #[derive(Clone)]
        struct $set {
            $($name: Data<$service>,)+
        }

        impl $set {
            fn register(self, registry: &mut impl Registry) {
                $(registry.insert_service(self.$name);)+
            }
        }
    };
}

services! {
    /// Services that write for clients. A request with a context gets its own.
    RequestServices;
    staff_sessions: StaffSessions,
    known_addresses: KnownAddresses,
    temporary_passwords: TemporaryPasswords,
    employees: EmployeeService,
    roles: RoleService,
    permissions: PermissionService,
    customer_sessions: CustomerSessions,
    heartbeats: Heartbeats,
    introspection: Introspection,
    miniapps: MiniAppLogin,
    callback_login: CallbackLogin,
    agents: AgentService,
    access_requests: AccessRequestService,
    agent_actions: AgentActionService,
    profiles: ProfileService,
    customers: StaffCustomerService,
    customer_contacts: CustomerPartService<CustomerContact>,
    bank_requisites: CustomerPartService<BankRequisite>,
    phone_change: PhoneChange,
    verifications: VerificationService,
    branches: BranchService,
    branch_requisites: BranchRequisiteService,
    departments: DepartmentService,
    applications: ApplicationService,
    payment_types: PaymentTypeService,
    payment_choices: PaymentChoiceService,
    project_settings: ProjectSettingsService,
    checkout_options: CheckoutOptions,
    categories: CategoryService,
    brands: BrandService,
    tags: TagService,
    shown_categories: AssortmentService<Category>,
    shown_brands: AssortmentService<Brand>,
    plans: PlanService,
    warehouses: WarehouseService,
    nomenclatures: NomenclatureService,
    inventories: InventoryService,
    favourites: FavouriteService,
    discounts: DiscountService,
    promotions: PromotionService,
    spreadsheets: SpreadsheetService,
    import_columns: ImportColumns,
    files: FileService,
    bulk: BulkService,
    webhooks: WebhookService,
    deliveries: DeliveryService,
    placement: PlacementService,
    subscriptions: SubscriptionService,
    staff_subscriptions: StaffSubscriptions,
    method_changes: MethodChangeService,
    saved_methods: SavedMethodService,
    orders: OrderService,
    tickets: TicketService,
    integrations: IntegrationService,
    pages: PageService,
    blocks: PartService<Block>,
    menu_items: PartService<MenuItem>,
    menu_order: PartOrderService<MenuItem>,
    slides: PartService<Slide>,
    slide_order: PartOrderService<Slide>,
    tasks: TaskService,
    staff_menus: StaffMenuService,
    staff_shops: StaffShopService,
    opening_times: OpeningTimesService,
}

services! {
    /// Services that keep data in memory, only read, or serve other callers than clients.
    SharedServices;
    throttle: Throttle,
    counters: Counters,
    random: Arc<dyn Random>,
    clock: Arc<dyn Clock>,
    database: Database,
    staff_guard: StaffGuard,
    customer_guard: CustomerGuard,
    staff_directory: StaffDirectory,
    failures: RefusalLog,
    notifications: NotificationService,
    refunds: RefundService,
    dictionaries: DictionaryService,
    shops: ShopService,
    storefront: StorefrontService,
    searches: SearchHistory,
    showcase: ShowcaseService,
    storefront_plans: StorefrontPlanService,
    suggestions: SuggestionService,
    charges: ChargeService,
    desk: IdempotencyStore,
    request_services: ServiceFactory,
    reservations: ReservationService,
    reports: ReportService,
    changes: ChangeService,
    page_history: PageHistory,
    page_shelf: PageViewer,
    part_shelf: PartViewer,
    shop_history: ShopHistory,
    branch_history: BranchHistory,
}

/// Services of all domains, for the HTTP threads.
#[derive(Clone)]
pub struct Services {
    shared: SharedServices,
    /// Services of requests without a context.
    plain: RequestServices,
}

impl RequestServices {
    fn new(store: &Arc<Database>, around: &Adapters, storefront: &Arc<StorefrontService>) -> Self {
        let charges = around.charges(store);
        let make = Make { store: store.clone(), around };
        let (clock, random, cipher) = make.basics();
        Self {
            favourites: Data::new(make.favourites(storefront.clone())),
            spreadsheets: Data::new(make.spreadsheets()),
            import_columns: Data::new(ImportColumns { maps: store.clone() }),
            files: Data::new(make.files()),
            bulk: Data::new(make.bulk()),
            deliveries: Data::new(make.deliveries()),
            webhooks: Data::new(make.webhooks()),
            staff_sessions: Data::new(make.staff_sessions()),
            known_addresses: Data::new(make.known_addresses()),
            temporary_passwords: Data::from(around.temporary_passwords(store)),
            employees: Data::new(make.employees()),
            roles: Data::new(RoleService { roles: store.clone(), clock: clock.clone() }),
            permissions: Data::new(PermissionService { permissions: store.clone() }),
            customer_sessions: Data::new(make.customer_sessions()),
            heartbeats: Data::new(Heartbeats { sessions: store.clone(), clock: clock.clone() }),
            introspection: Data::new(make.introspection()),
            miniapps: Data::new(make.miniapps()),
            callback_login: Data::new(make.callback_login()),
            agents: Data::new(make.agents()),
            access_requests: Data::new(make.access_requests()),
            agent_actions: Data::new(make.agent_actions()),
            profiles: Data::new(ProfileService { customers: store.clone(), clock: clock.clone() }),
            customers: Data::new(make.customers()),
            customer_contacts: Data::new(make.customer_parts()),
            bank_requisites: Data::new(make.customer_parts()),
            phone_change: Data::new(make.phone_change()),
            verifications: Data::new(make.verifications(charges.clone())),
            branches: Data::new(BranchService::new(store.clone(), clock.clone())),
            branch_requisites: Data::new(make.branch_requisites()),
            departments: Data::new(DepartmentService::new(store.clone(), clock.clone())),
            payment_types: Data::new(PaymentTypeService::new(store.clone(), clock.clone())),
            payment_choices: Data::new(PaymentChoiceService { options: store.clone(), clock: clock.clone() }),
            project_settings: Data::new(make.project_settings()),
            checkout_options: Data::new(CheckoutOptions { options: store.clone() }),
            categories: Data::new(make.categories()),
            brands: Data::new(BrandService::new(store.clone(), clock.clone())),
            tags: Data::new(TagService { tags: store.clone(), clock: clock.clone() }),
            shown_categories: Data::new(make.assortment()),
            shown_brands: Data::new(make.assortment()),
            plans: Data::new(PlanService { plans: store.clone(), applications: store.clone(), clock: clock.clone() }),
            warehouses: Data::new(make.warehouses()),
            nomenclatures: Data::new(make.nomenclatures()),
            inventories: Data::new(InventoryService { inventories: store.clone(), clock: clock.clone() }),
            discounts: Data::new(DiscountService { discounts: store.clone(), clock: clock.clone() }),
            promotions: Data::new(PromotionService { promotions: store.clone(), clock: clock.clone() }),
            placement: Data::new(make.placement(charges.clone())),
            subscriptions: Data::new(make.subscriptions(charges.clone())),
            staff_subscriptions: Data::new(make.staff_subscriptions(charges.clone())),
            method_changes: Data::new(make.method_changes(charges.clone())),
            saved_methods: Data::new(SavedMethodService { methods: store.clone(), clock: clock.clone() }),
            orders: Data::new(make.orders()),
            tickets: Data::new(make.tickets()),
            integrations: Data::new(make.integrations()),
            pages: Data::new(PageService::new(store.clone(), clock.clone())),
            blocks: Data::new(make.parts()),
            menu_items: Data::new(make.parts()),
            menu_order: Data::new(make.part_order()),
            slides: Data::new(make.parts()),
            slide_order: Data::new(make.part_order()),
            staff_shops: Data::new(StaffShopService::new(store.clone(), clock.clone())),
            opening_times: Data::new(make.opening_times()),
            staff_menus: Data::new(StaffMenuService { menus: store.clone(), clock: clock.clone() }),
            tasks: Data::new(TaskService::new(store.clone(), clock.clone())),
            applications: Data::new(ApplicationService {
                applications: store.clone(),
                histories: store.clone(),
                clock,
                random,
                cipher,
            }),
        }
    }
}

impl Services {
    /// Creates all services.
    pub fn new(database: &Database, around: &Adapters) -> Self {
        let charges = around.charges(database);
        let Adapters { clock, random, cipher, counters, limiter, .. } = around.clone();
        let store = Arc::new(database.clone());
        let searches = Arc::new(SearchHistory::new(store.clone(), clock.clone()));
        let storefront = Arc::new(Make { store: store.clone(), around }.storefront(searches.clone()));
        let plain = RequestServices::new(&store, around, &storefront);
        let bind = {
            let (around, storefront) = (around.clone(), storefront.clone());
            move |bound: Database| {
                let mut services = Extensions::new();
                RequestServices::new(&Arc::new(bound), &around, &storefront).register(&mut services);
                services
            }
        };
        let shared = SharedServices {
            request_services: Data::new(ServiceFactory::new(database.clone(), bind)),
            throttle: Data::new(Throttle::new(limiter, around.limits)),
            counters: Data::new(counters),
            showcase: Data::new(ShowcaseService {
                showcase: store.clone(),
                cleaner: around.cleaner.clone(),
                clock: clock.clone(),
            }),
            storefront_plans: Data::new(StorefrontPlanService {
                shelf: store.clone(),
                cleaner: around.cleaner.clone(),
            }),
            suggestions: Data::new(SuggestionService { provider: around.suggestions.clone() }),
            storefront: Data::from(storefront),
            searches: Data::from(searches),
            random: Data::new(random.clone()),
            clock: Data::new(clock.clone()),
            database: Data::new(database.clone()),
            staff_guard: Data::new(StaffGuard::new(store.clone(), clock.clone(), cipher.clone())),
            customer_guard: Data::new(CustomerGuard::new(store.clone(), clock.clone(), cipher.clone())),
            staff_directory: Data::new(StaffDirectory { directory: store.clone() }),
            failures: Data::new(RefusalLog::new(clock.clone())),
            notifications: Data::new(NotificationService { notifications: store.clone() }),
            refunds: Data::new(around.refunds(database)),
            dictionaries: Data::new(DictionaryService { dictionaries: store.clone(), options: store.clone() }),
            shops: Data::new(ShopService { shops: store.clone() }),
            charges: Data::from(charges),
            desk: Data::new(IdempotencyStore::new(database.clone(), clock.clone(), cipher.clone(), random.clone())),
            reservations: Data::new(ReservationService { reservations: store.clone(), orders: store.clone() }),
            reports: Data::new(ReportService { reports: store.clone() }),
            changes: Data::new(ChangeService { log: store.clone(), clock: clock.clone() }),
            page_history: Data::new(PageHistory::new(store.clone(), store.clone())),
            page_shelf: Data::new(PageViewer::new(store.clone(), around.limiter.clone(), around.cleaner.clone())),
            shop_history: Data::new(ShopHistory::new(store.clone(), store.clone())),
            branch_history: Data::new(BranchHistory::new(store.clone(), store.clone())),
            part_shelf: Data::new(PartViewer { parts: store.clone(), cleaner: around.cleaner.clone() }),
        };
        Self { shared, plain }
    }

    /// Makes the services available to extractors and handlers.
    pub fn register(&self, config: &mut ServiceConfig) {
        self.shared.clone().register(config);
        self.plain.clone().register(config);
    }

    /// Returns the use cases of jobs.
    pub fn bulk(&self) -> Arc<BulkService> {
        self.plain.bulk.clone().into_inner()
    }

    /// Returns the use cases of spreadsheets.
    pub fn spreadsheets(&self) -> Arc<SpreadsheetService> {
        self.plain.spreadsheets.clone().into_inner()
    }

    /// Returns the use cases of saved import columns.
    pub fn import_columns(&self) -> Arc<ImportColumns> {
        self.plain.import_columns.clone().into_inner()
    }

    /// Returns the source of randomness.
    pub fn random(&self) -> Arc<dyn Random> {
        self.shared.random.get_ref().clone()
    }

    /// Creates a response cache of this many megabytes.
    pub fn answers(&self, megabytes: u32) -> ResponseCache {
        ResponseCache::new(megabytes, self.shared.database.get_ref().clone(), self.shared.clock.get_ref().clone())
    }

    /// Returns the buffers that are written in the background.
    pub fn buffered_writes(&self) -> BufferedWrites {
        BufferedWrites {
            storefront: self.shared.storefront.clone().into_inner(),
            pages: self.shared.page_shelf.clone().into_inner(),
            searches: self.shared.searches.clone().into_inner(),
            staff: self.shared.staff_guard.clone().into_inner(),
            customers: self.shared.customer_guard.clone().into_inner(),
            answers: self.shared.desk.clone().into_inner(),
        }
    }
}
