//! Validation of the configuration.

use kontor_kernel::ExposeSecret;

use super::weak_key::weakness_of;
use super::{Config, ConfigError, Environment, invalid_setting};

/// Maximum of `code_limit_factor`. A higher factor would disable the limits.
const MAX_CODE_LIMIT_FACTOR: u32 = 100;
/// Maximum number of events per second, minute or hour in a setting.
const MAX_EVENTS: u32 = 1_000_000;

impl Config {
    fn check_files(&self) -> Result<(), ConfigError> {
        let needed = [
            ("files_s3_endpoint", self.files_s3_endpoint.is_empty()),
            ("files_s3_region", self.files_s3_region.is_empty()),
            ("files_s3_access_key", self.files_s3_access_key.is_empty()),
            ("files_s3_secret_key", self.files_s3_secret_key.expose_secret().is_empty()),
        ];
        match needed.iter().find(|(_, empty)| *empty) {
            Some((key, _)) if !self.files_s3_bucket.is_empty() => {
                Err(invalid_setting(key, "is required with files_s3_bucket"))
            }
            _ if self.files_s3_bucket.is_empty() && !self.files_s3_endpoint.is_empty() => {
                Err(invalid_setting("files_s3_bucket", "is required with files_s3_endpoint"))
            }
            _ if self.files_limit == 0 => Err(invalid_setting("files_limit", "must be at least 1")),
            _ => Ok(()),
        }
    }

    /// Rejects values that cannot work and, in production, unsafe values.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.database()?;
        self.check_files()?;
        self.verification()?;
        self.consent_text()?;
        self.proxies()?;
        self.acquirer_ranges()?;
        self.redis()?;
        if !(1..=10_000).contains(&self.redis_timeout_ms) {
            return Err(invalid_setting("redis_timeout_ms", "must be between 1 and 10000"));
        }
        if !(1..=3_600).contains(&self.body_seconds) {
            return Err(invalid_setting("body_seconds", "must be between 1 and 3600"));
        }
        if u64::from(self.body_memory_mb) << 20 < u64::try_from(self.body_limit).unwrap_or(u64::MAX) {
            return Err(invalid_setting("body_memory_mb", "must not be less than body_limit"));
        }
        if !(1..=MAX_EVENTS).contains(&self.subscription_charges_per_second) {
            let key = "subscription_charges_per_second";
            return Err(invalid_setting(key, format!("must be between 1 and {MAX_EVENTS}")));
        }
        if !(1..=MAX_CODE_LIMIT_FACTOR).contains(&self.code_limit_factor) {
            return Err(invalid_setting("code_limit_factor", format!("must be between 1 and {MAX_CODE_LIMIT_FACTOR}")));
        }
        for (key, limit) in [
            ("phone_codes_per_hour", self.phone_codes_per_hour),
            ("customer_writes_per_minute", self.customer_writes_per_minute),
        ] {
            if !(1..=MAX_EVENTS).contains(&limit) {
                return Err(invalid_setting(key, format!("must be between 1 and {MAX_EVENTS}")));
            }
        }
        if self.secret_key.expose_secret().len() < 32 {
            return Err(invalid_setting("secret_key", "must have at least 32 characters"));
        }
        if self.has_development_key() && !self.bind.ip().is_loopback() {
            let reason = "must be a loopback address such as 127.0.0.1 while secret_key is the public default; set \
                          KONTOR_SECRET_KEY, and KONTOR_ENV=production if the database holds real data";
            return Err(invalid_setting("bind", reason));
        }
        self.monitoring()?;
        if self.miniapp_contact_seconds == 0 {
            return Err(invalid_setting("miniapp_contact_seconds", "must be at least 1"));
        }
        if self.env == Environment::Production {
            if self.has_development_key() {
                return Err(invalid_setting(
                    "secret_key",
                    "must not be the default in production; set KONTOR_SECRET_KEY",
                ));
            }
            if let Some(weakness) = weakness_of(self.secret_key.expose_secret()) {
                let advice = "generate one with `openssl rand -hex 32`";
                return Err(invalid_setting("secret_key", format!("{weakness}; {advice}")));
            }
            if self.code_limit_factor > 1 {
                return Err(invalid_setting(
                    "code_limit_factor",
                    "must be 1 in production, because it raises the rate limits of codes",
                ));
            }
            if self.webhook_allow_internal {
                return Err(invalid_setting(
                    "webhook_allow_internal",
                    "must be false in production: webhooks to internal addresses are not allowed",
                ));
            }
            if self.acquirer_shop_id == "demo" || self.acquirer_shop_id == "sandbox" {
                return Err(invalid_setting(
                    "acquirer_shop_id",
                    "must not be sandbox or demo credentials in production",
                ));
            }
        }
        Ok(())
    }
}
