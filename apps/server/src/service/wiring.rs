//! Wiring of adapters to ports, and their creation from the configuration.

mod factory;
mod handlers;

pub(crate) use self::factory::ServiceFactory;

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{Data, ServiceConfig};
use chrono::TimeDelta;
use kontor_adapter_acquirer::{AcquirerClient, AcquirerConfig, ClientError};
use kontor_adapter_diesel::Database;
use kontor_adapter_files::{FileStorage, FolderUploads};
use kontor_adapter_limits::{MemoryLimiter, RedisLimiter, RedisOptions};
use kontor_adapter_messaging::{
    CallChecks, CallSettings, ClientError as MessageClientError, CodeMessenger, FlashCalls, HmacSigner,
    HttpWebhookSender, Mailer, MailerError, PhoneCodes, SmsCodes, SmtpCredentials, SmtpSettings, SmtpTls,
};
use kontor_adapter_suggest::{ClientError as SuggestClientError, SuggestSettings, Suggestions};
use kontor_auth::model::TokenLifetimes;
use kontor_auth::ports::{
    ApprovalMailSender, CallNotificationParser, CallVerifier, CodeSender, HashingFailed, PasswordHasher, PasswordSender,
};
use kontor_auth::{AgentActionService, ApprovalMailWorker, CustomerGuard, StaffGuard, TemporaryPasswords};
use kontor_catalog::bulk::ports::UploadStore;
use kontor_catalog::storefront::{SearchHistory, StorefrontService};
use kontor_content::{FileSweeper, PageViewer};
use kontor_kernel::{Clock, HtmlCleaner, Random, RateLimiter, SecretCipher};
use kontor_orders::PaymentPage;
use kontor_organization::ports::{SuggestionProvider, TaskMailSender};
use kontor_organization::{SuggestionService, TaskMailWorker};
use kontor_payments::ports::PaymentGateway;
use kontor_payments::verification::VerificationTerms;
use kontor_payments::{ChargeService, ReceiptService, RefundService};
use kontor_platform_surface::agent_tools;
use kontor_subscriptions::ports::SubscriptionForecastReader;
use kontor_subscriptions::{ChargeLimiter, SubscriptionScheduler};
use kontor_web::idempotency::IdempotencyStore;
use kontor_web::limits::LimitSettings;
use kontor_web::response_cache::ResponseCache;
use kontor_web::{RefusalLog, Throttle};
use kontor_webhooks::DeliveryWorker;
use kontor_webhooks::model::OutboundPolicy;

use self::handlers::HandlerServices;
use super::background_writes::BufferedWrites;
use crate::adapters::{Argon2Passwords, HtmlAllowList, ServiceKey, SystemRandom};
use crate::config::{self, Config, ConfigError};

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
    /// E-mails to employees about calls of agents that wait for approval.
    pub approval_mail: Arc<dyn ApprovalMailSender>,
    /// Address of the list of agents' calls in the staff console, if the public address is configured.
    pub approvals_url: Option<String>,
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
            task_mail: mail.clone(),
            approval_mail: mail,
            approvals_url: config.approvals_url(),
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
    pub fn charges(&self, database: &Database) -> ChargeService {
        let (gateway, clock, random) = (self.acquirer.clone(), self.clock.clone(), self.random.clone());
        ChargeService { charges: Arc::new(database.clone()), gateway, clock, random }
    }

    /// Returns the use cases of refunds, for the worker and for notifications.
    pub fn refunds(&self, database: &Database) -> RefundService {
        let Self { acquirer: gateway, clock, random, .. } = self.clone();
        RefundService { refunds: Arc::new(database.clone()), gateway, clock, random }
    }

    /// Returns the scheduler that charges due subscriptions, for the worker.
    pub fn subscription_scheduler(&self, database: &Database) -> SubscriptionScheduler {
        let Self { clock, random, .. } = self.clone();
        let charges = Arc::new(self.charges(database));
        let limiter = Arc::new(ChargeLimiter::per_second(self.charges_per_second));
        SubscriptionScheduler { store: Arc::new(database.clone()), charges, clock, random, limiter }
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
    pub fn temporary_passwords(&self, database: &Database) -> TemporaryPasswords {
        let (hasher, sender) = (self.hasher.clone(), self.passwords.clone());
        let (clock, random) = (self.clock.clone(), self.random.clone());
        TemporaryPasswords { requests: Arc::new(database.clone()), hasher, sender, clock, random }
    }

    /// Returns the use cases of agents' calls.
    pub fn agent_actions(&self, database: &Database) -> AgentActionService {
        ServiceFactory::new(database.clone(), Arc::new(self.clone())).agent_actions()
    }

    /// Returns the sender of e-mails about tasks.
    pub fn task_mails(&self, database: &Database) -> TaskMailWorker {
        let Self { task_mail: sender, clock, .. } = self.clone();
        TaskMailWorker { queue: Arc::new(database.clone()), sender, clock }
    }

    /// Returns the sender of e-mails about calls of agents that wait for approval.
    pub fn approval_mails(&self, database: &Database) -> ApprovalMailWorker {
        let Self { approval_mail: sender, approvals_url: inbox, clock, .. } = self.clone();
        ApprovalMailWorker { queue: Arc::new(database.clone()), sender, clock, tools: agent_tools(), inbox }
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

/// Services of all domains, for the HTTP threads.
#[derive(Clone)]
pub struct Services {
    handlers: HandlerServices,
    shared: SharedServices,
}

/// Data that all requests share. None of it commits for a client: such services belong to [`HandlerServices`].
#[derive(Clone)]
struct SharedServices {
    throttle: Data<Throttle>,
    counters: Data<Counters>,
    random: Data<Arc<dyn Random>>,
    clock: Data<Arc<dyn Clock>>,
    database: Data<Database>,
    staff_guard: Data<StaffGuard>,
    customer_guard: Data<CustomerGuard>,
    failures: Data<RefusalLog>,
    storefront: Data<StorefrontService>,
    searches: Data<SearchHistory>,
    suggestions: Data<SuggestionService>,
    keys: Data<IdempotencyStore>,
    pages: Data<PageViewer>,
}

impl Services {
    /// Creates all services.
    pub fn new(database: &Database, around: &Adapters) -> Self {
        let Adapters { clock, random, cipher, counters, limiter, cleaner, suggestions, .. } = around.clone();
        let store = Arc::new(database.clone());
        let searches = Arc::new(SearchHistory::new(store.clone(), clock.clone()));
        let storefront = Arc::new(StorefrontService::new(
            store.clone(),
            store.clone(),
            limiter.clone(),
            cleaner.clone(),
            searches.clone(),
            clock.clone(),
        ));
        let handlers = HandlerServices::new(database.clone(), Arc::new(around.clone()), storefront.clone());
        let shared = SharedServices {
            throttle: Data::new(Throttle::new(limiter.clone(), around.limits)),
            counters: Data::new(counters),
            random: Data::new(random.clone()),
            clock: Data::new(clock.clone()),
            database: Data::new(database.clone()),
            staff_guard: Data::new(StaffGuard::new(store.clone(), clock.clone(), cipher.clone())),
            customer_guard: Data::new(CustomerGuard::new(store.clone(), clock.clone(), cipher.clone())),
            failures: Data::new(RefusalLog::new(clock.clone())),
            storefront: Data::from(storefront),
            searches: Data::from(searches),
            suggestions: Data::new(SuggestionService { provider: suggestions }),
            keys: Data::new(IdempotencyStore::new(database.clone(), clock, cipher, random)),
            pages: Data::new(PageViewer::new(store, limiter, cleaner)),
        };
        Self { handlers, shared }
    }

    /// Makes the services available to extractors and handlers.
    pub fn register(&self, config: &mut ServiceConfig) {
        self.handlers.register(config);
        let shared = self.shared.clone();
        config
            .app_data(shared.throttle)
            .app_data(shared.counters)
            .app_data(shared.random)
            .app_data(shared.clock)
            .app_data(shared.database)
            .app_data(shared.staff_guard)
            .app_data(shared.customer_guard)
            .app_data(shared.failures)
            .app_data(shared.storefront)
            .app_data(shared.searches)
            .app_data(shared.suggestions)
            .app_data(shared.keys)
            .app_data(shared.pages);
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
        let shared = self.shared.clone();
        BufferedWrites {
            storefront: shared.storefront.into_inner(),
            pages: shared.pages.into_inner(),
            searches: shared.searches.into_inner(),
            staff: shared.staff_guard.into_inner(),
            customers: shared.customer_guard.into_inner(),
            answers: shared.keys.into_inner(),
        }
    }
}

/// Reason why messages cannot be sent with this configuration.
#[derive(Debug, thiserror::Error)]
pub enum MessagingError {
    /// The HTTP client cannot be created.
    #[error(transparent)]
    Client(#[from] MessageClientError),
    /// The mailer cannot be created.
    #[error(transparent)]
    Mailer(#[from] MailerError),
}

/// Returns the policy for webhook targets.
pub fn outbound_policy(config: &Config) -> OutboundPolicy {
    if config.webhook_allow_internal { OutboundPolicy::unrestricted() } else { OutboundPolicy::default() }
}

fn telephony(config: &Config) -> CallSettings {
    CallSettings { base_url: config.telephony_url.clone(), api_id: config.telephony_api_id.clone() }
}

/// Returns the adapter that verifies phones by an incoming call.
pub fn call_checks(config: &Config) -> Result<CallChecks, MessagingError> {
    Ok(CallChecks::new(telephony(config))?)
}

/// Returns the adapter that sends one-time codes to customers.
pub fn code_messenger(config: &Config) -> Result<CodeMessenger, MessagingError> {
    let phones = match config.phone_codes {
        config::PhoneCodes::Call => PhoneCodes::Calls(FlashCalls::new(telephony(config))?),
        config::PhoneCodes::Sms => PhoneCodes::Sms(SmsCodes::new(telephony(config))?),
    };
    Ok(CodeMessenger::new(phones, mailer(config)?))
}

/// Returns the adapter that sends e-mails.
pub fn mailer(config: &Config) -> Result<Mailer, MessagingError> {
    let account = SmtpCredentials { user: config.smtp_user.clone(), password: config.smtp_password.clone() };
    let mail = SmtpSettings {
        host: config.smtp_host.clone(),
        port: config.smtp_port,
        tls: match config.smtp_tls {
            config::SmtpTls::None => SmtpTls::None,
            config::SmtpTls::Starttls => SmtpTls::StartTls,
            config::SmtpTls::Tls => SmtpTls::Tls,
        },
        credentials: (!account.user.is_empty()).then_some(account),
        from: config.smtp_from.clone(),
    };
    Ok(Mailer::new(mail)?)
}

/// Configured storage of the counters.
#[derive(Clone)]
pub enum Counters {
    /// Memory of this process.
    Memory(Arc<MemoryLimiter>),
    /// Redis, or memory while Redis is unavailable.
    Redis(Arc<RedisLimiter>),
}

impl Counters {
    /// Creates the configured adapter.
    pub fn new(config: &Config, clock: Arc<dyn Clock>, cipher: Arc<dyn SecretCipher>) -> Result<Self, ConfigError> {
        Ok(match config.redis()? {
            None => Self::Memory(Arc::new(MemoryLimiter::new(clock))),
            Some(url) => {
                let patience = Duration::from_millis(config.redis_timeout_ms.into());
                let options = RedisOptions { patience, ..RedisOptions::default() };
                Self::Redis(Arc::new(RedisLimiter::new(url, options, clock, cipher)))
            }
        })
    }

    /// Connects to Redis, if configured. Needs a tokio runtime.
    pub fn start(&self) {
        if let Self::Redis(limiter) = self {
            limiter.start();
        }
    }

    /// Returns the port.
    pub fn limiter(&self) -> Arc<dyn RateLimiter> {
        match self {
            Self::Memory(limiter) => limiter.clone(),
            Self::Redis(limiter) => limiter.clone(),
        }
    }

    /// Returns `memory`, `redis`, or `fallback` while memory replaces Redis.
    pub fn place(&self) -> &'static str {
        match self {
            Self::Memory(_) => "memory",
            Self::Redis(limiter) if limiter.is_connected() => "redis",
            Self::Redis(_) => "fallback",
        }
    }
}
