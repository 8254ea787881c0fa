//! Services with many ports.

use std::sync::Arc;

use kontor_adapter_diesel::Database;
use kontor_adapter_files::Inspector;
use kontor_adapter_messaging::HmacSigner;
use kontor_adapter_spreadsheet::{Limits, Spreadsheets};
use kontor_auth::miniapp::{MiniAppLogin, Verifier};
use kontor_auth::{
    AccessRequestService, AgentActionService, AgentService, CallbackLogin, CustomerSessions, EmployeeService,
    Introspection, KnownAddresses, PhoneChange, StaffSessions,
};
use kontor_catalog::bulk::{BulkService, ExportRunner, JobRunner};
use kontor_catalog::ports::{Assignable, AssortmentRepository};
use kontor_catalog::spreadsheet::SpreadsheetService;
use kontor_catalog::storefront::{FavouriteService, SearchHistory, StorefrontService};
use kontor_catalog::{AssortmentService, CategoryService, NomenclatureService, WarehouseService};
use kontor_content::model::ApplicationPart;
use kontor_content::ports::{PartOrder, PartRepository};
use kontor_content::{FileService, PartOrderService, PartService};
use kontor_customers::model::CustomerRecordPart;
use kontor_customers::ports::CustomerPartRepository;
use kontor_customers::{CustomerPartService, StaffCustomerService};
use kontor_kernel::{Clock, Random, SecretCipher};
use kontor_orders::tickets::{TicketService, TicketTerms, TicketTokens};
use kontor_orders::{FewestWarehouses, OrderService, PlacementService};
use kontor_organization::{BranchRequisiteService, IntegrationService, OpeningTimesService, ProjectSettingsService};
use kontor_payments::ChargeService;
use kontor_payments::verification::VerificationService;
use kontor_platform_surface::agent_tools;
use kontor_subscriptions::{MethodChangeService, StaffSubscriptions, SubscriptionService};
use kontor_webhooks::{DeliveryService, WebhookService};

use super::Adapters;

/// Factory of the services of one database.
pub struct Make<'a> {
    pub store: Arc<Database>,
    pub around: &'a Adapters,
}

impl Make<'_> {
    /// Returns the adapters that most services need. Cloning all of them would cost more, and a request does it often.
    pub fn basics(&self) -> (Arc<dyn Clock>, Arc<dyn Random>, Arc<dyn SecretCipher>) {
        (self.around.clock.clone(), self.around.random.clone(), self.around.cipher.clone())
    }

    pub fn known_addresses(&self) -> KnownAddresses {
        let (clock, cipher) = (self.around.clock.clone(), self.around.cipher.clone());
        KnownAddresses { addresses: self.store.clone(), clock, cipher }
    }

    pub fn employees(&self) -> EmployeeService {
        EmployeeService {
            employees: self.store.clone(),
            roles: self.store.clone(),
            histories: self.store.clone(),
            hasher: self.around.hasher.clone(),
            clock: self.around.clock.clone(),
            random: self.around.random.clone(),
        }
    }

    pub fn spreadsheets(&self) -> SpreadsheetService {
        let sheets = Arc::new(Spreadsheets::default());
        SpreadsheetService {
            reader: sheets.clone(),
            writers: sheets,
            cards: self.store.clone(),
            stock: self.store.clone(),
            clock: self.around.clock.clone(),
        }
    }

    pub fn storefront(&self, searches: Arc<SearchHistory>) -> StorefrontService {
        StorefrontService::new(
            self.store.clone(),
            self.store.clone(),
            self.around.limiter.clone(),
            self.around.cleaner.clone(),
            searches,
            self.around.clock.clone(),
        )
    }

    pub fn files(&self) -> FileService {
        FileService {
            files: self.store.clone(),
            contents: Arc::new(self.around.files.clone()),
            inspector: Arc::new(Inspector),
            resizer: Arc::new(Inspector),
            clock: self.around.clock.clone(),
            random: self.around.random.clone(),
        }
    }

    pub fn assortment<R: Assignable>(&self) -> AssortmentService<R>
    where
        Database: AssortmentRepository<R>,
    {
        AssortmentService {
            assortment: self.store.clone(),
            applications: self.store.clone(),
            clock: self.around.clock.clone(),
        }
    }

    pub fn customers(&self) -> StaffCustomerService {
        StaffCustomerService {
            customers: self.store.clone(),
            histories: self.store.clone(),
            clock: self.around.clock.clone(),
        }
    }

    pub fn opening_times(&self) -> OpeningTimesService {
        OpeningTimesService { shops: self.store.clone(), times: self.store.clone(), clock: self.around.clock.clone() }
    }

    pub fn part_order<P: ApplicationPart>(&self) -> PartOrderService<P>
    where
        Database: PartRepository<P> + PartOrder<P>,
    {
        PartOrderService { parts: self.store.clone(), order: self.store.clone(), clock: self.around.clock.clone() }
    }

    pub fn warehouses(&self) -> WarehouseService {
        let (warehouses, histories) = (self.store.clone(), self.store.clone());
        WarehouseService { warehouses, histories, clock: self.around.clock.clone() }
    }

    pub fn nomenclatures(&self) -> NomenclatureService {
        let (nomenclatures, histories) = (self.store.clone(), self.store.clone());
        NomenclatureService { nomenclatures, histories, clock: self.around.clock.clone() }
    }

    pub fn integrations(&self) -> IntegrationService {
        let (clock, cipher) = (self.around.clock.clone(), self.around.cipher.clone());
        IntegrationService { integrations: self.store.clone(), clock, cipher }
    }

    pub fn favourites(&self, storefront: Arc<StorefrontService>) -> FavouriteService {
        FavouriteService { favourites: self.store.clone(), storefront, clock: self.around.clock.clone() }
    }

    pub fn parts<P: ApplicationPart>(&self) -> PartService<P>
    where
        Database: PartRepository<P>,
    {
        PartService { parts: self.store.clone(), histories: self.store.clone(), clock: self.around.clock.clone() }
    }

    pub fn project_settings(&self) -> ProjectSettingsService {
        ProjectSettingsService {
            settings: self.store.clone(),
            histories: self.store.clone(),
            clock: self.around.clock.clone(),
        }
    }

    pub fn branch_requisites(&self) -> BranchRequisiteService {
        BranchRequisiteService {
            branches: self.store.clone(),
            requisites: self.store.clone(),
            clock: self.around.clock.clone(),
        }
    }

    pub fn customer_parts<P: CustomerRecordPart>(&self) -> CustomerPartService<P>
    where
        Database: CustomerPartRepository<P>,
    {
        CustomerPartService {
            customers: self.store.clone(),
            parts: self.store.clone(),
            clock: self.around.clock.clone(),
        }
    }

    pub fn bulk(&self) -> BulkService {
        let (uploads, clock) = (self.around.uploads.clone(), self.around.clock.clone());
        BulkService { jobs: self.store.clone(), exports: self.store.clone(), uploads, clock }
    }

    pub fn webhooks(&self) -> WebhookService {
        WebhookService {
            webhooks: self.store.clone(),
            policy: self.around.outbound.clone(),
            clock: self.around.clock.clone(),
            random: self.around.random.clone(),
            cipher: self.around.cipher.clone(),
        }
    }

    pub fn staff_sessions(&self) -> StaffSessions {
        let (clock, random, cipher) = self.basics();
        let (hasher, lifetimes) = (self.around.hasher.clone(), self.around.lifetimes);
        let (staff, tokens) = (self.store.clone(), self.store.clone());
        StaffSessions { staff, tokens, hasher, clock, random, cipher, lifetimes }
    }

    pub fn customer_sessions(&self) -> CustomerSessions {
        let (clock, random, cipher) = self.basics();
        let (sender, lifetimes) = (self.around.codes.clone(), self.around.lifetimes);
        let (accounts, codes, tokens) = (self.store.clone(), self.store.clone(), self.store.clone());
        CustomerSessions { accounts, codes, tokens, sender, clock, random, cipher, lifetimes }
    }

    pub fn miniapps(&self) -> MiniAppLogin {
        let (clock, random, cipher) = self.basics();
        let Adapters { lifetimes, contact_lifetime, .. } = *self.around;
        let (bots, accounts) = (self.store.clone(), self.store.clone());
        let verifier = Verifier::new(Arc::new(HmacSigner), cipher.clone(), contact_lifetime);
        MiniAppLogin { bots, accounts, verifier, clock, random, cipher, lifetimes }
    }

    pub fn callback_login(&self) -> CallbackLogin {
        let (clock, random, cipher) = self.basics();
        let (verifier, notices) = (self.around.calls.clone(), self.around.call_notices.clone());
        let lifetimes = self.around.lifetimes;
        CallbackLogin { attempts: self.store.clone(), verifier, notices, clock, random, cipher, lifetimes }
    }

    pub fn access_requests(&self) -> AccessRequestService {
        let (clock, random, cipher) = self.basics();
        AccessRequestService { requests: self.store.clone(), clock, random, cipher }
    }

    pub fn agent_actions(&self) -> AgentActionService {
        let (clock, random, cipher) = self.basics();
        let (actions, staff) = (self.store.clone(), self.store.clone());
        let (hasher, tools) = (self.around.hasher.clone(), agent_tools());
        AgentActionService { actions, staff, hasher, clock, random, cipher, tools }
    }

    pub fn agents(&self) -> AgentService {
        let (clock, random, cipher) = self.basics();
        AgentService { agents: self.store.clone(), clock, random, cipher }
    }

    pub fn phone_change(&self) -> PhoneChange {
        let (clock, random, cipher) = self.basics();
        let sender = self.around.codes.clone();
        PhoneChange { phones: self.store.clone(), sender, clock, random, cipher }
    }

    pub fn introspection(&self) -> Introspection {
        let (clock, _, cipher) = self.basics();
        Introspection { clients: self.store.clone(), clock, cipher }
    }

    pub fn deliveries(&self) -> DeliveryService {
        let (webhooks, deliveries) = (self.store.clone(), self.store.clone());
        let Adapters { clock, random, .. } = self.around.clone();
        DeliveryService { webhooks, deliveries, clock, random }
    }

    pub fn placement(&self, charges: Arc<ChargeService>) -> PlacementService {
        let (clock, random, _) = self.basics();
        let page = self.around.payment_page.clone();
        let (carts, store, orders) = (self.store.clone(), self.store.clone(), self.store.clone());
        let allocation = Arc::new(FewestWarehouses);
        PlacementService { carts, store, orders, charges, clock, random, page, allocation }
    }

    pub fn subscriptions(&self, charges: Arc<ChargeService>) -> SubscriptionService {
        let (clock, random, _) = self.basics();
        let (return_url, consent_text) =
            (self.around.payment_page.return_url.clone(), self.around.consent_text.clone());
        SubscriptionService { store: self.store.clone(), charges, clock, random, return_url, consent_text }
    }

    pub fn categories(&self) -> CategoryService {
        let (categories, histories) = (self.store.clone(), self.store.clone());
        CategoryService { categories, histories, clock: self.around.clock.clone() }
    }

    pub fn staff_subscriptions(&self, charges: Arc<ChargeService>) -> StaffSubscriptions {
        let (clock, random, _) = self.basics();
        StaffSubscriptions { register: self.store.clone(), store: self.store.clone(), charges, clock, random }
    }

    pub fn method_changes(&self, charges: Arc<ChargeService>) -> MethodChangeService {
        let (clock, random, _) = self.basics();
        let (terms, consent_text) = (self.around.verification.clone(), self.around.consent_text.clone());
        MethodChangeService { store: self.store.clone(), charges, clock, random, terms, consent_text }
    }

    pub fn orders(&self) -> OrderService {
        let (clock, random, _) = self.basics();
        OrderService { orders: self.store.clone(), store: self.store.clone(), clock, random }
    }

    pub fn tickets(&self) -> TicketService {
        let (clock, _, cipher) = self.basics();
        let (tickets, orders) = (self.store.clone(), self.store.clone());
        TicketService { tickets, orders, tokens: TicketTokens { cipher }, clock, terms: TicketTerms::default() }
    }

    pub fn verifications(&self, charges: Arc<ChargeService>) -> VerificationService {
        VerificationService {
            store: self.store.clone(),
            charges,
            clock: self.around.clock.clone(),
            random: self.around.random.clone(),
            terms: self.around.verification.clone(),
        }
    }
}

impl Adapters {
    /// Returns the runner of imports, for the worker and for the command line.
    pub fn job_runner(&self, database: &Database) -> Arc<JobRunner> {
        let store = Arc::new(database.clone());
        let reader = Arc::new(Spreadsheets::with_limits(Limits::large()));
        let (uploads, clock) = (self.uploads.clone(), self.clock.clone());
        Arc::new(JobRunner { reader, cards: store.clone(), stock: store.clone(), jobs: store, uploads, clock })
    }

    /// Returns the runner of exports, for the worker and for the command line.
    pub fn export_runner(&self, database: &Database) -> Arc<ExportRunner> {
        let store = Arc::new(database.clone());
        let (files, clock) = (self.uploads.clone(), self.clock.clone());
        let writers = Arc::new(Spreadsheets::default());
        Arc::new(ExportRunner { exports: store.clone(), source: store, writers, files, clock })
    }
}
