//! The effective configuration: flags, then `KONTOR_*`, then `kontor.toml`, then defaults. Unknown keys are errors.

mod checks;
mod layers;
mod weak_key;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use kontor_adapter_diesel::DatabaseUrl;
use kontor_adapter_files::{Bucket, FileStorage};
use kontor_adapter_limits::RedisUrl;
use kontor_kernel::{ExposeSecret, Line, Money, SecretString};
use kontor_payments::verification::VerificationTerms;
use serde::{Deserialize, Serialize};

pub use self::layers::Layers;
use self::layers::{list, shown};

/// Where the service runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// Defaults that work at once and are not safe.
    Development,
    /// Everything unsafe is refused at start.
    Production,
}

/// That the service runs in development. Nobody has one in production: what must never be done there asks for it.
#[derive(Debug, Clone, Copy)]
pub struct Development(());

impl Environment {
    /// The proof, where it is so.
    pub fn development(self) -> Option<Development> {
        (self == Self::Development).then_some(Development(()))
    }
}

/// How a mail server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SmtpTls {
    /// In the clear: only for a server on the same machine.
    None,
    /// Upgraded after the greeting.
    Starttls,
    /// From the first byte.
    Tls,
}

/// How one-time codes get to phones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhoneCodes {
    /// A call whose number ends in the code.
    Call,
    /// A message with the code.
    Sms,
}

/// The service key of a fresh checkout; refused in production.
pub const DEFAULT_SECRET_KEY: &str = "kontor-development-key-not-for-production";

/// Where `/metrics` and `/docs/` are in production, unless told otherwise.
const MONITORING: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9464);

/// Addresses from which YooKassa sends notifications, as its documentation names them.
const YOOKASSA: [&str; 7] = [
    "185.71.76.0/27",
    "185.71.77.0/27",
    "77.75.153.0/25",
    "77.75.154.128/25",
    "77.75.156.11",
    "77.75.156.35",
    "2a02:5180::/32",
];

/// Every setting. Names are the keys of `kontor.toml`; in the environment they are upper case behind `KONTOR_`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `development` or `production`.
    pub env: Environment,
    /// The address to listen on.
    pub bind: SocketAddr,
    /// Where `/metrics` and `/docs/` are served: an address of their own, or `main` for `bind`. Empty for `main` in
    /// development and `127.0.0.1:9464` in production.
    pub monitoring_bind: String,
    /// The address of the service as its users see it, without a path.
    pub public_url: String,
    /// `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`.
    #[serde(with = "shown")]
    pub database_url: SecretString,
    /// Connections for reading; on PostgreSQL for everything.
    pub database_connections: u32,
    /// Whether statements stay prepared on PostgreSQL; `false` behind a pooler in transaction mode.
    pub database_prepared_statements: bool,
    /// HTTP worker threads; `0` is one per core.
    pub http_workers: usize,
    /// The key that secrets are sealed and codes are hashed with: at least 32 characters.
    #[serde(with = "shown")]
    pub secret_key: SecretString,
    /// Where several processes count rate limits together: `redis://[USER:PASSWORD@]HOST[:PORT][/DB]`, `rediss://` for
    /// TLS or `unix:///PATH`; empty for the memory of each process.
    #[serde(with = "shown")]
    pub redis_url: SecretString,
    /// The longest a request waits for Redis before memory counts, in milliseconds.
    pub redis_timeout_ms: u32,
    /// Multiplies every rate limit of one-time codes, temporary passwords and calls; `1` in production.
    pub code_limit_factor: u32,
    /// Codes by call and SMS, and checks by a call, of a project in an hour: each costs money.
    pub phone_codes_per_hour: u32,
    /// Writes of a signed-in customer in a minute.
    pub customer_writes_per_minute: u32,
    /// Proxies whose `X-Forwarded-For` counts: addresses or CIDR ranges, separated by commas.
    #[serde(deserialize_with = "list")]
    pub trusted_proxies: Vec<String>,
    /// Origins that may call the client surface from a browser, separated by commas; `*` is any.
    #[serde(deserialize_with = "list")]
    pub cors_origins: Vec<String>,
    /// The most that answers of storefronts remembered in memory take, in megabytes; `0` remembers none.
    pub answers_memory_mb: u32,
    /// The largest JSON body, in bytes.
    pub body_limit: usize,
    /// The longest that a JSON body takes to come, in seconds. One that stops is refused after 10.
    pub body_seconds: u32,
    /// The most that request bodies take in memory, over all connections, in megabytes.
    pub body_memory_mb: u32,
    /// The largest uploaded file, in bytes, but for imports.
    pub upload_limit: u64,
    /// The largest file of an import, in bytes.
    pub import_limit: u64,
    /// The largest file of an import that is answered at once, in bytes; larger ones become jobs.
    pub import_inline_bytes: u64,
    /// The most rows of an import that is answered at once; more become jobs.
    pub import_inline_rows: u32,
    /// Where files of jobs are kept; empty for a folder beside the SQLite database, or `kontor-imports`.
    pub import_folder: String,
    /// What is logged: the least level for all (`info`), and others for single targets (`info,kontor::request=debug`).
    pub log: String,
    /// `json` or `text`.
    pub log_format: String,
    /// How long an employee's token lives, in hours.
    pub staff_token_hours: u32,
    /// How long a customer's token lives, in hours.
    pub customer_token_hours: u32,
    /// How long what is over is kept, in days: sessions of customers, events that were sent, ended deliveries.
    pub retention_days: u32,
    /// The acquirer's interface, up to `/v3`.
    pub acquirer_url: String,
    /// The shop's number at the acquirer.
    pub acquirer_shop_id: String,
    /// The shop's secret key at the acquirer.
    #[serde(with = "shown")]
    pub acquirer_secret_key: SecretString,
    /// Where the payer returns to; `{order_id}` is replaced.
    pub acquirer_return_url: String,
    /// Addresses or CIDR ranges from which the acquirer sends notifications, separated by commas. Few are taken from others.
    #[serde(deserialize_with = "list")]
    pub acquirer_addresses: Vec<String>,
    /// What a customer pays to verify himself, in roubles; it is refunded.
    pub verification_amount: String,
    /// Where he returns to.
    pub verification_return_url: String,
    /// Which text of the consent to recurring charges customers are shown; every consent is stored with it.
    pub subscription_consent_version: String,
    /// How many subscriptions a worker charges in a second, at most: what the acquirer takes beside everything else.
    pub subscription_charges_per_second: u32,
    /// The interface for calls and SMS.
    pub telephony_url: String,
    /// The key of the telephony account.
    #[serde(with = "shown")]
    pub telephony_api_id: SecretString,
    /// The interface for suggestions, up to `/rs`.
    pub suggest_url: String,
    /// The key of the account for suggestions; empty for none.
    #[serde(with = "shown")]
    pub suggest_api_key: SecretString,
    /// Whether codes get to phones by `call` or by `sms`.
    pub phone_codes: PhoneCodes,
    /// How old a contact signed by a messenger may be, in seconds.
    pub miniapp_contact_seconds: u32,
    /// The mail server.
    pub smtp_host: String,
    /// Its port.
    pub smtp_port: u16,
    /// `none`, `starttls` or `tls`.
    pub smtp_tls: SmtpTls,
    /// The account at the mail server; empty for none.
    pub smtp_user: String,
    /// Its password.
    #[serde(with = "shown")]
    pub smtp_password: SecretString,
    /// The sender of e-mails.
    pub smtp_from: String,
    /// Whether webhooks may reach internal addresses and plain http: only for development.
    pub webhook_allow_internal: bool,
    /// The largest file that `POST /api/files` takes, in bytes; never more than `upload_limit`.
    pub files_limit: u64,
    /// The folder that contents of files are kept in; empty for `kontor-files` beside the database file, or in the working
    /// folder when there is none.
    pub files_folder: String,
    /// A bucket of S3, or of anything that speaks its protocol, to keep contents in; empty for the folder.
    pub files_s3_bucket: String,
    /// Where the bucket is, without its name: `https://s3.example.com`.
    pub files_s3_endpoint: String,
    /// The region that requests are signed for.
    pub files_s3_region: String,
    /// Who we are to the bucket.
    pub files_s3_access_key: String,
    /// The proof.
    #[serde(with = "shown")]
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

/// Settings given on the command line; only those given count.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Flags {
    /// See [`Config::bind`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<SocketAddr>,
    /// See [`Config::database_url`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_url: Option<String>,
}

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value cannot be read, or a key is unknown.
    #[error("configuration: {0}")]
    Unreadable(Box<figment::Error>),
    /// A value is unfit.
    #[error("configuration: {key}: {reason}")]
    Unfit {
        /// The key.
        key: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
}

fn unfit(key: &'static str, reason: impl ToString) -> ConfigError {
    ConfigError::Unfit { key, reason: reason.to_string() }
}

/// Addresses as ranges; a single address is a range of one.
fn ranges(key: &'static str, addresses: &[String]) -> Result<Vec<ipnet::IpNet>, ConfigError> {
    let parse = |text: &String| {
        let range = text.parse::<ipnet::IpNet>();
        range.or_else(|_| text.parse().map(|address: IpAddr| address.into()))
    };
    let named = |text: &String| parse(text).map_err(|_| unfit(key, format!("`{text}` is no address")));
    addresses.iter().map(named).collect()
}

impl Config {
    /// Reads the layers and checks the result.
    pub fn load(file: Option<PathBuf>, flags: Flags) -> Result<Self, ConfigError> {
        Layers::read(file, flags).over(&Self::default())
    }

    /// The database.
    pub fn database(&self) -> Result<DatabaseUrl, ConfigError> {
        self.database_url.expose_secret().parse().map_err(|error| unfit("database_url", error))
    }

    /// The address of `/metrics` and `/docs/`; `None` when that is the main one.
    pub fn monitoring(&self) -> Result<Option<SocketAddr>, ConfigError> {
        match self.monitoring_bind.as_str() {
            "" if self.env == Environment::Production => Ok(Some(MONITORING)),
            "" | "main" => Ok(None),
            text => {
                text.parse().map(Some).map_err(|_| unfit("monitoring_bind", "must be `main` or an address as `bind`"))
            }
        }
    }

    /// Whether secrets are sealed with the key that everybody knows.
    pub fn has_development_key(&self) -> bool {
        self.secret_key.expose_secret() == DEFAULT_SECRET_KEY
    }

    /// The folder where files of jobs are kept.
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

    /// Tells files of this database from those of others in the same folder: sixteen letters and digits that say nothing
    /// else. The password is no part of it.
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

    /// The Redis that counts rate limits, if there is one.
    pub fn redis(&self) -> Result<Option<RedisUrl>, ConfigError> {
        let text = self.redis_url.expose_secret();
        let parse = || text.parse().map_err(|error| unfit("redis_url", error));
        if text.is_empty() { Ok(None) } else { parse().map(Some) }
    }

    /// The trusted proxies as ranges.
    pub fn proxies(&self) -> Result<Vec<ipnet::IpNet>, ConfigError> {
        ranges("trusted_proxies", &self.trusted_proxies)
    }

    /// The addresses of the acquirer as ranges.
    pub fn acquirer_ranges(&self) -> Result<Vec<ipnet::IpNet>, ConfigError> {
        ranges("acquirer_addresses", &self.acquirer_addresses)
    }

    /// What a verification costs until the money is back.
    pub fn verification(&self) -> Result<VerificationTerms, ConfigError> {
        let amount: Money = self.verification_amount.parse().map_err(|error| unfit("verification_amount", error))?;
        if amount.is_zero() {
            return Err(unfit("verification_amount", "must be more than nothing"));
        }
        Ok(VerificationTerms { amount, return_url: self.verification_return_url.clone() })
    }

    /// Which text of the consent to recurring charges customers are shown.
    pub fn consent_text(&self) -> Result<String, ConfigError> {
        let version = Line::<64>::parse(&self.subscription_consent_version);
        version.map(Into::into).map_err(|error| unfit("subscription_consent_version", error))
    }

    /// Where contents of files are kept. Nothing is made or called yet.
    pub fn files(&self) -> Result<FileStorage, ConfigError> {
        if !self.files_s3_bucket.is_empty() {
            let bucket = Bucket {
                endpoint: self.files_s3_endpoint.clone(),
                name: self.files_s3_bucket.clone(),
                region: self.files_s3_region.clone(),
                access_key: self.files_s3_access_key.clone(),
                secret_key: self.files_s3_secret_key.clone(),
            };
            return FileStorage::bucket(&bucket).map_err(|error| unfit("files_s3_bucket", error));
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

    /// The settings as text with every secret masked.
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
