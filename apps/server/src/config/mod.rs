//! Effective configuration: flags, then `KONTOR_*`, then `kontor.toml`, then defaults. Unknown keys are errors.

mod checks;
mod layers;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use kontor_adapter_diesel::DatabaseUrl;
use kontor_adapter_files::{Bucket, FileStorage};
use kontor_adapter_limits::RedisUrl;
use kontor_kernel::{ExposeSecret, Line, Money, SecretString};
use kontor_payments::verification::VerificationTerms;
use kontor_traces::Sampling;
use kontor_web::Settings;
use kontor_web::limits::LimitSettings;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::layers::{Layers, database_url_in};
use self::layers::{list, shown};

/// Environment of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// Defaults that work at once but are not safe.
    Development,
    /// Unsafe settings prevent the start.
    Production,
}

/// Proof that the service runs in development. Functions that are forbidden in production require it.
#[derive(Debug, Clone, Copy)]
pub struct Development(());

impl Environment {
    /// Returns the proof in development.
    pub fn development(self) -> Option<Development> {
        (self == Self::Development).then_some(Development(()))
    }
}

/// TLS mode of the mail server connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SmtpTls {
    /// No encryption: only for a server on the same machine.
    None,
    /// Upgrade after the greeting.
    Starttls,
    /// TLS from the start.
    Tls,
}

/// Transport of one-time codes to phones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhoneCodes {
    /// Call from a number that ends in the code.
    Call,
    /// Text message with the code.
    Sms,
}

/// Service key of a fresh checkout; rejected in production.
pub const DEFAULT_SECRET_KEY: &str = "kontor-development-key-not-for-production";

/// Default address of `/metrics` and `/docs/` in production.
const MONITORING: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9464);

/// Addresses from which YooKassa sends notifications, according to its documentation.
const YOOKASSA: [&str; 7] = [
    "185.71.76.0/27",
    "185.71.77.0/27",
    "77.75.153.0/25",
    "77.75.154.128/25",
    "77.75.156.11",
    "77.75.156.35",
    "2a02:5180::/32",
];

/// All settings. Names are the keys of `kontor.toml`; environment variables are in upper case with the prefix
/// `KONTOR_`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `development` or `production`. `production` refuses unsafe settings.
    #[schema(value_type = String)]
    pub env: Environment,
    /// Address of the API. It must be a loopback address with the development key.
    #[schema(value_type = String)]
    pub bind: SocketAddr,
    /// Address of `/metrics` and `/docs/`; `main` for that of the API. Empty means `main` in development and
    /// `127.0.0.1:9464` in production.
    pub monitoring_bind: String,
    /// Public URL of the service, without a path. Employees approve agents at `/agent-access/` below it.
    pub public_url: String,
    /// `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub database_url: SecretString,
    /// SQLite: number of connections for reading. PostgreSQL: size of the pool.
    pub database_connections: u32,
    /// Prepared statements on PostgreSQL; `false` behind a connection pool in transaction mode.
    pub database_prepared_statements: bool,
    /// Number of HTTP worker threads; `0` is one per core.
    pub http_workers: usize,
    /// Key for encrypting secrets and hashing codes, at least 32 characters (`openssl rand -hex 32`). Production
    /// requires a random one.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub secret_key: SecretString,
    /// Redis for rate limits that several processes share: `redis://[USER:PASSWORD@]HOST[:PORT][/DB]`, `rediss://` for
    /// TLS or `unix:///PATH`. Empty means the memory of each process.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub redis_url: SecretString,
    /// Maximum time that a request waits for Redis, 1 to 10000 milliseconds. After it the limits in memory apply.
    pub redis_timeout_ms: u32,
    /// Factor for every rate limit of one-time codes, temporary passwords and calls, 1 to 100; `1` in production.
    pub code_limit_factor: u32,
    /// Maximum number of codes by call and SMS, and of checks by a call, per project and hour, 1 to 1000000. Each costs
    /// money.
    pub phone_codes_per_hour: u32,
    /// Maximum number of writes of a logged-in customer per minute, 1 to 1000000.
    pub customer_writes_per_minute: u32,
    /// Proxies whose headers `X-Forwarded-For` and `traceparent` are trusted: addresses or CIDR ranges, separated by
    /// commas.
    #[serde(deserialize_with = "list")]
    pub trusted_proxies: Vec<String>,
    /// Origins that may call the client surface from a browser, separated by commas; `*` is any. The platform surface
    /// allows no other origin.
    #[serde(deserialize_with = "list")]
    pub cors_origins: Vec<String>,
    /// Serve the staff console at `/console/`.
    pub console: bool,
    /// Maximum size of the response cache, in MiB; `0` disables it.
    pub answers_memory_mb: u32,
    /// Maximum size of a JSON body, in bytes.
    pub body_limit: usize,
    /// Maximum time for receiving a JSON body, 1 to 3600 seconds. A body that stops is rejected after 10 seconds.
    pub body_seconds: u32,
    /// Maximum memory of JSON bodies over all connections, in MiB; at least `body_limit`.
    pub body_memory_mb: u32,
    /// Maximum size of an uploaded file, in bytes, except for imports.
    pub upload_limit: u64,
    /// Maximum size of an import file, in bytes.
    pub import_limit: u64,
    /// Maximum size of an import file that is processed within the request, in bytes; larger files become jobs.
    pub import_inline_bytes: u64,
    /// Maximum number of rows of an import that is processed within the request; larger imports become jobs.
    pub import_inline_rows: u32,
    /// Folder for files of imports and exports; empty for a folder beside the SQLite database (`<database>.imports`),
    /// or `kontor-imports`.
    pub import_folder: String,
    /// Minimum log level (`info`), optionally with levels of single targets (`info,kontor::request=debug`).
    pub log: String,
    /// Format of the log on standard error: `json` or `text`.
    pub log_format: String,
    /// URL of an OTLP/HTTP collector that takes traces as JSON: `http://127.0.0.1:4318/v1/traces`. Empty for none.
    pub traces_url: String,
    /// Percentage of requests and of calls of the worker that are sampled, 0 to 100. For a request with `traceparent`
    /// from a trusted proxy, its flag decides.
    pub traces_percent: u32,
    /// Lifetime of new tokens of employees, in hours.
    pub staff_token_hours: u32,
    /// Lifetime of new tokens of customers, in hours.
    pub customer_token_hours: u32,
    /// Retention of finished records, in days: sessions of customers, sent events, ended deliveries, jobs.
    pub retention_days: u32,
    /// URL of the acquirer's API, up to `/v3`.
    pub acquirer_url: String,
    /// Shop id at the acquirer. Do not change it while payments are open.
    pub acquirer_shop_id: String,
    /// Secret key of the shop at the acquirer.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub acquirer_secret_key: SecretString,
    /// URL that payers return to; `{order_id}` is replaced.
    pub acquirer_return_url: String,
    /// Addresses or CIDR ranges from which the acquirer sends notifications, separated by commas. Other addresses have
    /// a low rate limit.
    #[serde(deserialize_with = "list")]
    pub acquirer_addresses: Vec<String>,
    /// Amount of an SBP verification by payment, in roubles; it is refunded.
    pub verification_amount: String,
    /// URL that the customer returns to after a verification.
    pub verification_return_url: String,
    /// Version of the text of consent to recurring charges, 1 to 64 characters. It is stored with every consent; change
    /// it with the text.
    pub subscription_consent_version: String,
    /// Maximum number of subscriptions that a worker charges per second, 1 to 1000000. The acquirer must accept it in
    /// addition to all other calls.
    pub subscription_charges_per_second: u32,
    /// URL of the API for calls and SMS (SMS.RU).
    pub telephony_url: String,
    /// Key of the telephony account.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub telephony_api_id: SecretString,
    /// URL of the API for suggestions, up to `/rs` (DaData).
    pub suggest_url: String,
    /// Key of the account for suggestions. Without it suggestions are answered with `503`.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub suggest_api_key: SecretString,
    /// Transport of codes to phones: `call` (the caller's number ends in the code) or `sms`.
    #[schema(value_type = String)]
    pub phone_codes: PhoneCodes,
    /// Maximum age of a contact signed by a messenger, in seconds. It needs a correct system clock.
    pub miniapp_contact_seconds: u32,
    /// Host of the mail server.
    pub smtp_host: String,
    /// Port of the mail server.
    pub smtp_port: u16,
    /// TLS of the connection to the mail server: `none`, `starttls` or `tls`.
    #[schema(value_type = String)]
    pub smtp_tls: SmtpTls,
    /// Account at the mail server; empty for none.
    pub smtp_user: String,
    /// Password of the account at the mail server.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub smtp_password: SecretString,
    /// Sender of e-mails.
    pub smtp_from: String,
    /// Webhooks to internal addresses and over plain http: only for development.
    pub webhook_allow_internal: bool,
    /// Maximum size of a file for `POST /api/files`, in bytes; never more than `upload_limit`.
    pub files_limit: u64,
    /// Folder for file contents; empty for `kontor-files` beside the SQLite database, or in the working folder.
    pub files_folder: String,
    /// Bucket for file contents in S3 or a compatible service; empty for the folder. `kontor backup upload` uses it, too.
    pub files_s3_bucket: String,
    /// URL of the S3 service without the bucket name: `https://s3.example.com`.
    pub files_s3_endpoint: String,
    /// Region that requests are signed for.
    pub files_s3_region: String,
    /// Access key id of the bucket.
    pub files_s3_access_key: String,
    /// Secret access key of the bucket.
    #[serde(with = "shown")]
    #[schema(value_type = String)]
    pub files_s3_secret_key: SecretString,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            env: Environment::Development,
            bind: SocketAddr::from(([127, 0, 0, 1], 8080)),
            monitoring_bind: String::new(),
            public_url: "http://127.0.0.1:8080".into(),
            database_url: "sqlite:kontor.db".into(),
            database_connections: 8,
            database_prepared_statements: true,
            http_workers: 0,
            secret_key: DEFAULT_SECRET_KEY.into(),
            redis_url: String::new().into(),
            redis_timeout_ms: 100,
            code_limit_factor: 1,
            phone_codes_per_hour: 1_000,
            customer_writes_per_minute: 120,
            trusted_proxies: Vec::new(),
            cors_origins: vec!["*".into()],
            console: true,
            answers_memory_mb: 64,
            body_limit: 1024 * 1024,
            body_seconds: 60,
            body_memory_mb: 16,
            upload_limit: 64 * 1024 * 1024,
            import_limit: 1024 * 1024 * 1024,
            import_inline_bytes: 4 * 1024 * 1024,
            import_inline_rows: 10_000,
            import_folder: String::new(),
            log: "info".into(),
            log_format: "json".into(),
            traces_url: String::new(),
            traces_percent: 1,
            staff_token_hours: 30 * 24,
            customer_token_hours: 365 * 24,
            retention_days: 30,
            acquirer_url: "https://api.yookassa.ru/v3".into(),
            acquirer_shop_id: String::new(),
            acquirer_secret_key: String::new().into(),
            acquirer_return_url: "http://127.0.0.1:8080/".into(),
            acquirer_addresses: YOOKASSA.map(str::to_owned).into(),
            verification_amount: "1.00".into(),
            verification_return_url: "http://127.0.0.1:8080/".into(),
            subscription_consent_version: "1".into(),
            subscription_charges_per_second: 20,
            telephony_url: "https://sms.ru".into(),
            telephony_api_id: String::new().into(),
            suggest_url: "https://suggestions.dadata.ru/suggestions/api/4_1/rs".into(),
            suggest_api_key: String::new().into(),
            phone_codes: PhoneCodes::Call,
            miniapp_contact_seconds: 3600,
            smtp_host: "localhost".into(),
            smtp_port: 25,
            smtp_tls: SmtpTls::None,
            smtp_user: String::new(),
            smtp_password: String::new().into(),
            smtp_from: "kontor@localhost.localdomain".into(),
            webhook_allow_internal: false,
            files_limit: 32 * 1024 * 1024,
            files_folder: String::new(),
            files_s3_bucket: String::new(),
            files_s3_endpoint: String::new(),
            files_s3_region: "us-east-1".into(),
            files_s3_access_key: String::new(),
            files_s3_secret_key: String::new().into(),
        }
    }
}

/// Settings given on the command line. Absent ones are left to the other layers.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Flags {
    /// See [`Config::bind`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<SocketAddr>,
    /// See [`Config::database_url`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_url: Option<String>,
}

/// Error in the configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The configuration file cannot be read.
    #[error("configuration: {0}")]
    Unreadable(String),
    /// A value is invalid, or a key is unknown.
    #[error("configuration: {key}: {reason}")]
    InvalidSetting {
        /// Key of the setting.
        key: String,
        /// Description of the error.
        reason: String,
    },
    /// Every wrong setting, one per line.
    #[error("{}", lines(.0))]
    Several(Vec<Self>),
}

impl ConfigError {
    /// Returns the key of the wrong setting, if it is a single one.
    fn key(&self) -> Option<&str> {
        match self {
            Self::InvalidSetting { key, .. } => Some(key),
            Self::Unreadable(_) | Self::Several(_) => None,
        }
    }

    /// Fails with the faults, if there are any.
    fn refuse(faults: Vec<Self>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self::Several(faults)) }
    }
}

fn lines(errors: &[ConfigError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn invalid_setting(key: &str, reason: impl ToString) -> ConfigError {
    ConfigError::InvalidSetting { key: key.to_owned(), reason: reason.to_string() }
}

/// Parses addresses as ranges; a single address is a range of one.
fn ranges(key: &str, addresses: &[String]) -> Result<Vec<ipnet::IpNet>, ConfigError> {
    let parse = |text: &String| {
        let range = text.parse::<ipnet::IpNet>();
        range.or_else(|_| text.parse().map(|address: IpAddr| address.into()))
    };
    let named = |text: &String| {
        parse(text).map_err(|_| invalid_setting(key, format!("`{text}` is not an IP address or range")))
    };
    addresses.iter().map(named).collect()
}

impl Config {
    /// Reads the layers and validates the result.
    pub fn load(file: Option<PathBuf>, flags: Flags) -> Result<Self, ConfigError> {
        Layers::read(file, flags).over(&Self::default())
    }

    /// Returns the database URL.
    pub fn database(&self) -> Result<DatabaseUrl, ConfigError> {
        self.database_url.expose_secret().parse().map_err(|error| invalid_setting("database_url", error))
    }

    /// Returns the address of `/metrics` and `/docs/`, or `None` if it is the main one.
    pub fn monitoring(&self) -> Result<Option<SocketAddr>, ConfigError> {
        match self.monitoring_bind.as_str() {
            "" if self.env == Environment::Production => Ok(Some(MONITORING)),
            "" | "main" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                invalid_setting("monitoring_bind", "must be `main` or a socket address such as 127.0.0.1:9090")
            }),
        }
    }

    /// Returns `true` if the service key is the public development key.
    pub fn has_development_key(&self) -> bool {
        self.secret_key.expose_secret() == DEFAULT_SECRET_KEY
    }

    /// Returns the folder for files of jobs.
    pub fn imports(&self) -> Result<PathBuf, ConfigError> {
        Ok(match self.database()? {
            _ if !self.import_folder.is_empty() => PathBuf::from(&self.import_folder),
            DatabaseUrl::Sqlite(file) => {
                let mut folder = file.into_os_string();
                folder.push(".imports");
                folder.into()
            }
            DatabaseUrl::Postgres(_) => PathBuf::from("kontor-imports"),
        })
    }

    /// Returns a mark of sixteen letters and digits that identifies files of this database in a shared folder. It
    /// reveals nothing else. The password is not part of it.
    pub fn database_mark(&self) -> Result<String, ConfigError> {
        let shown = match self.database()? {
            DatabaseUrl::Sqlite(file) => std::path::absolute(&file).unwrap_or(file).display().to_string(),
            url @ DatabaseUrl::Postgres(_) => {
                let text = self.database_url.expose_secret();
                let settings = text.split_once('?').map_or("", |(_, settings)| settings);
                let settings = settings.split('&').filter(|setting| !setting.starts_with("password="));
                settings.fold(url.to_string(), |shown, setting| shown + "&" + setting)
            }
        };
        let digest = ring::digest::digest(&ring::digest::SHA256, shown.as_bytes());
        Ok(kontor_kernel::hex(digest.as_ref()).chars().take(16).collect())
    }

    /// Returns the Redis URL for rate limits, if configured.
    pub fn redis(&self) -> Result<Option<RedisUrl>, ConfigError> {
        let text = self.redis_url.expose_secret();
        let parse = || text.parse().map_err(|error| invalid_setting("redis_url", error));
        if text.is_empty() { Ok(None) } else { parse().map(Some) }
    }

    /// Returns the trusted proxies as ranges.
    pub fn proxies(&self) -> Result<Vec<ipnet::IpNet>, ConfigError> {
        ranges("trusted_proxies", &self.trusted_proxies)
    }

    /// Returns the addresses of the acquirer as ranges.
    pub fn acquirer_ranges(&self) -> Result<Vec<ipnet::IpNet>, ConfigError> {
        ranges("acquirer_addresses", &self.acquirer_addresses)
    }

    /// Returns the price of a verification, which is refunded.
    pub fn verification(&self) -> Result<VerificationTerms, ConfigError> {
        let amount: Money =
            self.verification_amount.parse().map_err(|error| invalid_setting("verification_amount", error))?;
        if amount.is_zero() {
            return Err(invalid_setting("verification_amount", "must be greater than 0"));
        }
        Ok(VerificationTerms { amount, return_url: self.verification_return_url.clone() })
    }

    /// Returns the version of the text of consent to recurring charges.
    pub fn consent_text(&self) -> Result<String, ConfigError> {
        let version = Line::<64>::parse(&self.subscription_consent_version);
        version.map(Into::into).map_err(|error| invalid_setting("subscription_consent_version", error))
    }

    /// Returns the bucket for file contents and backups, if there is one, without calling it.
    pub fn bucket(&self) -> Result<Option<FileStorage>, ConfigError> {
        if self.files_s3_bucket.is_empty() {
            return Ok(None);
        }
        let bucket = Bucket {
            endpoint: self.files_s3_endpoint.clone(),
            name: self.files_s3_bucket.clone(),
            region: self.files_s3_region.clone(),
            access_key: self.files_s3_access_key.clone(),
            secret_key: self.files_s3_secret_key.clone(),
        };
        FileStorage::bucket(&bucket).map(Some).map_err(|error| invalid_setting("files_s3_bucket", error))
    }

    /// Returns the storage of file contents, without creating or calling anything yet.
    pub fn files(&self) -> Result<FileStorage, ConfigError> {
        if let Some(bucket) = self.bucket()? {
            return Ok(bucket);
        }
        if !self.files_folder.is_empty() {
            return Ok(FileStorage::folder(&self.files_folder));
        }
        let beside = match self.database()? {
            DatabaseUrl::Sqlite(file) => file.parent().map(PathBuf::from).unwrap_or_default(),
            DatabaseUrl::Postgres(_) => PathBuf::new(),
        };
        Ok(FileStorage::folder(beside.join("kontor-files")))
    }

    /// Returns the share of requests and calls that are sampled: none without a collector.
    pub fn sampling(&self) -> Sampling {
        Sampling::percent(if self.traces_url.is_empty() { 0 } else { self.traces_percent })
    }

    /// Returns the address of the list of agents' calls in the staff console. There is none with the default public
    /// address, which leads nowhere from another machine.
    pub fn approvals_url(&self) -> Option<String> {
        let is_known = self.console && self.public_url != Self::default().public_url;
        is_known.then(|| format!("{}/console/agent-actions", self.public_url.trim_end_matches('/')))
    }

    /// Returns the settings of the HTTP kit.
    pub fn settings(&self) -> Settings {
        Settings {
            public_url: self.public_url.clone(),
            body_limit: self.body_limit,
            body_seconds: self.body_seconds,
            body_memory_mb: self.body_memory_mb,
            upload_limit: self.upload_limit,
            files_limit: self.files_limit,
            import_limit: self.import_limit,
            import_inline_bytes: self.import_inline_bytes,
            import_inline_rows: self.import_inline_rows,
        }
    }

    /// Returns the settings that change rate limits.
    pub fn limits(&self) -> LimitSettings {
        LimitSettings {
            code_factor: self.code_limit_factor,
            phone_codes: self.phone_codes_per_hour,
            customer_writes: self.customer_writes_per_minute,
        }
    }

    /// Returns the settings as text with every secret masked.
    pub fn masked(&self) -> Result<String, toml::ser::Error> {
        let mask =
            |secret: &SecretString| SecretString::from(if secret.expose_secret().is_empty() { "" } else { "***" });
        let shown = Self {
            database_url: self.database().map_or_else(|_| "***".into(), |url| url.to_string()).into(),
            secret_key: mask(&self.secret_key),
            redis_url: match self.redis() {
                Ok(url) => url.map(|url| url.to_string()).unwrap_or_default().into(),
                Err(_) => mask(&self.redis_url),
            },
            acquirer_secret_key: mask(&self.acquirer_secret_key),
            telephony_api_id: mask(&self.telephony_api_id),
            suggest_api_key: mask(&self.suggest_api_key),
            smtp_password: mask(&self.smtp_password),
            files_s3_secret_key: mask(&self.files_s3_secret_key),
            ..self.clone()
        };
        toml::to_string_pretty(&shown)
    }
}

#[cfg(test)]
mod tests;
