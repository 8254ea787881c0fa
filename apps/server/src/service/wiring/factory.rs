//! Services with many adapters, and those that the command line uses too.

use std::sync::Arc;

use kontor_adapter_diesel::Database;
use kontor_adapter_files::Inspector;
use kontor_adapter_messaging::HmacSigner;
use kontor_adapter_spreadsheet::{Limits, Spreadsheets};
use kontor_auth::miniapp::{MiniAppLogin, Verifier};
use kontor_auth::{
    AgentActionService, CallbackLogin, CustomerSessions, EmployeeService, PhoneChange, StaffSessions,
    TemporaryPasswords,
};
use kontor_catalog::AssortmentService;
use kontor_catalog::bulk::{BulkService, ExportRunner, JobRunner};
use kontor_catalog::ports::{Assignable, AssortmentRepository};
use kontor_catalog::spreadsheet::{ImportColumns, SpreadsheetService};
use kontor_content::model::ApplicationPart;
use kontor_content::ports::{PartOrder, PartRepository};
use kontor_content::{FileService, PartOrderService, PartService};
use kontor_customers::CustomerPartService;
use kontor_customers::model::CustomerRecordPart;
use kontor_customers::ports::CustomerPartRepository;
use kontor_kernel::{Clock, HtmlCleaner, Random, SecretCipher};
use kontor_orders::tickets::{TicketService, TicketTerms, TicketTokens};
use kontor_orders::{FewestWarehouses, PlacementService};
use kontor_payments::verification::VerificationService;
use kontor_payments::{ChargeService, RefundService};
use kontor_platform_surface::agent_tools;
use kontor_subscriptions::{MethodChangeService, StaffSubscriptions, SubscriptionService};
use kontor_webhooks::WebhookService;

use super::Adapters;
use crate::adapters::RehearsedGateway;

/// Factory of the services over one database handle.
pub struct ServiceFactory {
    store: Arc<Database>,
    around: Arc<Adapters>,
}

impl ServiceFactory {
    /// Creates a factory. The services of a rehearsal do not call the acquirer.
    pub fn new(database: Database, around: Arc<Adapters>) -> Self {
        let around = match database.rehearsal() {
            Some(rehearsal) => {
                let acquirer = Arc::new(RehearsedGateway(Arc::clone(rehearsal)));
                Arc::new(Adapters { acquirer, ..Adapters::clone(&around) })
            }
            None => around,
        };
        Self { store: Arc::new(database), around }
    }

    /// Returns the database as the adapter of any port.
    pub fn store(&self) -> Arc<Database> {
        self.store.clone()
    }

    /// Returns the clock.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.around.clock.clone()
    }

    /// Returns the source of randomness.
    pub fn random(&self) -> Arc<dyn Random> {
        self.around.random.clone()
    }

    /// Returns the hashing and encryption of secrets.
    pub fn cipher(&self) -> Arc<dyn SecretCipher> {
        self.around.cipher.clone()
    }

    /// Returns the cleaner of HTML.
    pub fn cleaner(&self) -> Arc<dyn HtmlCleaner> {
        self.around.cleaner.clone()
    }

    fn basics(&self) -> (Arc<dyn Clock>, Arc<dyn Random>, Arc<dyn SecretCipher>) {
        (self.clock(), self.random(), self.cipher())
    }

    pub fn charges(&self) -> ChargeService {
        self.around.charges(&self.store)
    }

    fn shared_charges(&self) -> Arc<ChargeService> {
        Arc::new(self.charges())
    }

    pub fn refunds(&self) -> RefundService {
        self.around.refunds(&self.store)
    }

    pub fn temporary_passwords(&self) -> TemporaryPasswords {
        self.around.temporary_passwords(&self.store)
    }

    pub fn employees(&self) -> EmployeeService {
        EmployeeService {
            employees: self.store(),
            roles: self.store(),
            histories: self.store(),
            hasher: self.around.hasher.clone(),
            clock: self.clock(),
            random: self.random(),
        }
    }

    pub fn agent_actions(&self) -> AgentActionService {
        let (clock, random, cipher) = self.basics();
        let (actions, staff) = (self.store(), self.store());
        let (hasher, tools) = (self.around.hasher.clone(), agent_tools());
        AgentActionService { actions, staff, hasher, clock, random, cipher, tools }
    }

    pub fn spreadsheets(&self) -> SpreadsheetService {
        let sheets = Arc::new(Spreadsheets::default());
        SpreadsheetService {
            reader: sheets.clone(),
            writers: sheets,
            cards: self.store(),
            stock: self.store(),
            clock: self.clock(),
        }
    }

    pub fn import_columns(&self) -> ImportColumns {
        ImportColumns { maps: self.store() }
    }

    pub fn files(&self) -> FileService {
        FileService {
            files: self.store(),
            contents: Arc::new(self.around.files.clone()),
            inspector: Arc::new(Inspector),
            resizer: Arc::new(Inspector),
            clock: self.clock(),
            random: self.random(),
        }
    }

    pub fn assortment<R: Assignable>(&self) -> AssortmentService<R>
    where
        Database: AssortmentRepository<R>,
    {
        AssortmentService { assortment: self.store(), applications: self.store(), clock: self.clock() }
    }

    pub fn part_order<P: ApplicationPart>(&self) -> PartOrderService<P>
    where
        Database: PartRepository<P> + PartOrder<P>,
    {
        PartOrderService { parts: self.store(), order: self.store(), clock: self.clock() }
    }

    pub fn parts<P: ApplicationPart>(&self) -> PartService<P>
    where
        Database: PartRepository<P>,
    {
        PartService { parts: self.store(), histories: self.store(), clock: self.clock() }
    }

    pub fn customer_parts<P: CustomerRecordPart>(&self) -> CustomerPartService<P>
    where
        Database: CustomerPartRepository<P>,
    {
        CustomerPartService { customers: self.store(), parts: self.store(), clock: self.clock() }
    }

    pub fn bulk(&self) -> BulkService {
        let (uploads, clock) = (self.around.uploads.clone(), self.clock());
        BulkService { jobs: self.store(), exports: self.store(), uploads, clock }
    }

    pub fn webhooks(&self) -> WebhookService {
        WebhookService {
            webhooks: self.store(),
            policy: self.around.outbound.clone(),
            clock: self.clock(),
            random: self.random(),
            cipher: self.cipher(),
        }
    }

    pub fn staff_sessions(&self) -> StaffSessions {
        let (clock, random, cipher) = self.basics();
        let (hasher, lifetimes) = (self.around.hasher.clone(), self.around.lifetimes);
        let (staff, tokens) = (self.store(), self.store());
        StaffSessions { staff, tokens, hasher, clock, random, cipher, lifetimes }
    }

    pub fn customer_sessions(&self) -> CustomerSessions {
        let (clock, random, cipher) = self.basics();
        let (sender, lifetimes) = (self.around.codes.clone(), self.around.lifetimes);
        let (accounts, codes, tokens) = (self.store(), self.store(), self.store());
        CustomerSessions { accounts, codes, tokens, sender, clock, random, cipher, lifetimes }
    }

    pub fn miniapps(&self) -> MiniAppLogin {
        let (clock, random, cipher) = self.basics();
        let Adapters { lifetimes, contact_lifetime, .. } = *self.around;
        let (bots, accounts) = (self.store(), self.store());
        let verifier = Verifier::new(Arc::new(HmacSigner), cipher.clone(), contact_lifetime);
        MiniAppLogin { bots, accounts, verifier, clock, random, cipher, lifetimes }
    }

    pub fn callback_login(&self) -> CallbackLogin {
        let (clock, random, cipher) = self.basics();
        let (verifier, notices) = (self.around.calls.clone(), self.around.call_notices.clone());
        let lifetimes = self.around.lifetimes;
        CallbackLogin { attempts: self.store(), verifier, notices, clock, random, cipher, lifetimes }
    }

    pub fn phone_change(&self) -> PhoneChange {
        let (clock, random, cipher) = self.basics();
        let sender = self.around.codes.clone();
        PhoneChange { phones: self.store(), sender, clock, random, cipher }
    }

    pub fn placement(&self) -> PlacementService {
        let (clock, random, _) = self.basics();
        let charges = self.shared_charges();
        let page = self.around.payment_page.clone();
        let (carts, store, orders) = (self.store(), self.store(), self.store());
        let allocation = Arc::new(FewestWarehouses);
        PlacementService { carts, store, orders, charges, clock, random, page, allocation }
    }

    pub fn subscriptions(&self) -> SubscriptionService {
        let (clock, random, _) = self.basics();
        let charges = self.shared_charges();
        let (return_url, consent_text) =
            (self.around.payment_page.return_url.clone(), self.around.consent_text.clone());
        SubscriptionService { store: self.store(), charges, clock, random, return_url, consent_text }
    }

    pub fn staff_subscriptions(&self) -> StaffSubscriptions {
        let (clock, random, _) = self.basics();
        let charges = self.shared_charges();
        StaffSubscriptions { register: self.store(), store: self.store(), charges, clock, random }
    }

    pub fn method_changes(&self) -> MethodChangeService {
        let (clock, random, _) = self.basics();
        let charges = self.shared_charges();
        let (terms, consent_text) = (self.around.verification.clone(), self.around.consent_text.clone());
        MethodChangeService { store: self.store(), charges, clock, random, terms, consent_text }
    }

    pub fn tickets(&self) -> TicketService {
        let (clock, _, cipher) = self.basics();
        let (tickets, orders) = (self.store(), self.store());
        TicketService { tickets, orders, tokens: TicketTokens { cipher }, clock, terms: TicketTerms::default() }
    }

    pub fn verifications(&self) -> VerificationService {
        VerificationService {
            store: self.store(),
            charges: self.shared_charges(),
            clock: self.clock(),
            random: self.random(),
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
