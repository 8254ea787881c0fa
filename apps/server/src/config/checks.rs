//! Validation of the configuration, and detection of guessable keys, which are usually not random.

use kontor_kernel::ExposeSecret;
use tracing_subscriber::filter::Targets;

use super::{Config, ConfigError, Environment, invalid_setting};

/// Maximum of `code_limit_factor`. A higher factor would disable the limits.
const MAX_CODE_LIMIT_FACTOR: u32 = 100;
/// Maximum number of events per second, minute or hour in a setting.
const MAX_EVENTS: u32 = 1_000_000;

/// Returns `true` if spans can be sent to this URL. Credentials would be printed with it.
fn is_collector(url: &str) -> bool {
    url.parse::<reqwest::Url>().is_ok_and(|url| {
        ["http", "https"].contains(&url.scheme()) && url.username().is_empty() && url.password().is_none()
    })
}

impl Config {
    fn file_faults(&self) -> Vec<ConfigError> {
        let has_bucket = !self.files_s3_bucket.is_empty();
        let needed = [
            ("files_s3_endpoint", self.files_s3_endpoint.is_empty()),
            ("files_s3_region", self.files_s3_region.is_empty()),
            ("files_s3_access_key", self.files_s3_access_key.is_empty()),
            ("files_s3_secret_key", self.files_s3_secret_key.expose_secret().is_empty()),
        ];
        let missing = needed.into_iter().filter(|(_, is_empty)| has_bucket && *is_empty);
        let mut faults: Vec<_> =
            missing.map(|(key, _)| invalid_setting(key, "is required with files_s3_bucket")).collect();
        if faults.is_empty() {
            faults.extend(self.files().err());
        }
        if !has_bucket && !self.files_s3_endpoint.is_empty() {
            faults.push(invalid_setting("files_s3_bucket", "is required with files_s3_endpoint"));
        }
        if self.files_limit == 0 {
            faults.push(invalid_setting("files_limit", "must be at least 1"));
        }
        faults
    }

    /// Rejects values that cannot work and, in production, unsafe values.
    pub fn check(&self) -> Result<(), ConfigError> {
        ConfigError::refuse(self.faults())
    }

    /// Returns an error for every value that cannot work and, in production, for every unsafe value.
    pub(super) fn faults(&self) -> Vec<ConfigError> {
        let database = self.database().map(drop);
        let files = if database.is_ok() { self.file_faults() } else { Vec::new() };
        let parsed = [
            database,
            self.verification().map(drop),
            self.consent_text().map(drop),
            self.proxies().map(drop),
            self.acquirer_ranges().map(drop),
            self.redis().map(drop),
            self.monitoring().map(drop),
        ];
        let mut faults: Vec<_> = parsed.into_iter().filter_map(Result::err).chain(files).collect();
        let mut refuse = |is_wrong: bool, key: &str, reason: &str| {
            if is_wrong {
                faults.push(invalid_setting(key, reason));
            }
        };
        for (key, value, most) in [
            ("redis_timeout_ms", self.redis_timeout_ms, 10_000),
            ("body_seconds", self.body_seconds, 3_600),
            ("subscription_charges_per_second", self.subscription_charges_per_second, MAX_EVENTS),
            ("code_limit_factor", self.code_limit_factor, MAX_CODE_LIMIT_FACTOR),
            ("phone_codes_per_hour", self.phone_codes_per_hour, MAX_EVENTS),
            ("customer_writes_per_minute", self.customer_writes_per_minute, MAX_EVENTS),
        ] {
            refuse(!(1..=most).contains(&value), key, &format!("must be between 1 and {most}"));
        }
        let memory = u64::from(self.body_memory_mb) << 20;
        let limit = u64::try_from(self.body_limit).unwrap_or(u64::MAX);
        refuse(memory < limit, "body_memory_mb", "must not be less than body_limit");
        refuse(self.miniapp_contact_seconds == 0, "miniapp_contact_seconds", "must be at least 1");
        refuse(self.log.parse::<Targets>().is_err(), "log", "must be a level such as info, or levels of targets");
        let has_traces = !self.traces_url.is_empty();
        let reason = "must be an http or https URL without credentials";
        refuse(has_traces && !is_collector(&self.traces_url), "traces_url", reason);
        refuse(self.traces_percent > 100, "traces_percent", "must be between 0 and 100");
        refuse(!["json", "text"].contains(&self.log_format.as_str()), "log_format", "must be one of: json, text");

        let (key, is_public) = (self.secret_key.expose_secret(), self.has_development_key());
        refuse(key.len() < 32, "secret_key", "must have at least 32 characters");
        let reason = "must be a loopback address such as 127.0.0.1 while secret_key is the public default; set \
                      KONTOR_SECRET_KEY, and KONTOR_ENV=production if the database holds real data";
        refuse(is_public && !self.bind.ip().is_loopback(), "bind", reason);
        if self.env == Environment::Production {
            if is_public {
                refuse(true, "secret_key", "must not be the default in production; set KONTOR_SECRET_KEY");
            } else if let Some(weakness) = weakness_of(key) {
                refuse(true, "secret_key", &format!("{weakness}; generate one with `openssl rand -hex 32`"));
            }
            let reason = "must be 1 in production, because it raises the rate limits of codes";
            refuse(self.code_limit_factor > 1, "code_limit_factor", reason);
            let reason = "must be false in production: webhooks to internal addresses are not allowed";
            refuse(self.webhook_allow_internal, "webhook_allow_internal", reason);
            let is_sandbox = ["demo", "sandbox"].contains(&self.acquirer_shop_id.as_str());
            refuse(is_sandbox, "acquirer_shop_id", "must not be sandbox or demo credentials in production");
        }
        faults
    }
}

/// Minimum number of different characters. A random key of 32 characters has more, even in hexadecimal digits.
const MIN_DISTINCT_CHARACTERS: usize = 9;
/// Longest accepted run of adjacent characters, such as `abcdef` or `54321`, or of equal ones.
const MAX_RUN: usize = 5;
/// Words in made-up keys that do not occur in random keys.
const WORDS: [&str; 10] = [
    "change-me",
    "changeme",
    "default",
    "development",
    "example",
    "kontor",
    "password",
    "production",
    "qwerty",
    "secret",
];

/// Returns the reason why a key is guessable, if any.
pub(super) fn weakness_of(key: &str) -> Option<String> {
    let characters: Vec<char> = key.chars().collect();
    let mut different = characters.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() < MIN_DISTINCT_CHARACTERS {
        return Some(format!("has only {} different characters", different.len()));
    }
    let lower = key.to_lowercase();
    if let Some(word) = WORDS.iter().find(|word| lower.contains(**word)) {
        return Some(format!("contains `{word}`"));
    }
    if is_repeated(&characters) {
        return Some("repeats a shorter string".to_owned());
    }
    (longest_run(&characters) > MAX_RUN).then(|| "has sequential characters".to_owned())
}

/// Returns `true` if the key repeats a shorter text.
fn is_repeated(key: &[char]) -> bool {
    (1..=key.len() / 2).any(|length| key.iter().zip(key.iter().skip(length)).all(|(one, other)| one == other))
}

/// Returns the length of the longest run in which each character is the next, the previous or the same as its neighbor.
fn longest_run(key: &[char]) -> usize {
    [1_i64, -1, 0]
        .into_iter()
        .map(|step| {
            let (mut longest, mut run) = (1, 1);
            for (one, next) in key.iter().zip(key.iter().skip(1)) {
                let follows = i64::from(u32::from(*next)) - i64::from(u32::from(*one)) == step;
                run = if follows { run + 1 } else { 1 };
                longest = longest.max(run);
            }
            longest
        })
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_typed_keys_are_weak() {
        for key in [
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "abababababababababababababababab",
            "correct-horse-battery-secret-key",
            "Change-Me-Change-Me-Change-Me-!!1",
            "0123456789abcdef0123456789abcdef",
            "k3Y9xQ2mZ7k3Y9xQ2mZ7k3Y9xQ2mZ7k3",
            "my own shop key 9876543210 2027!!",
            "zz1!zz2!zz3!zz4!zz1!zz2!zz3!zz4!",
        ] {
            assert!(weakness_of(key).is_some(), "{key}");
        }
    }

    #[test]
    fn random_keys_are_strong() {
        for key in [
            "d41c8f07b6a29e5330f1c7d9e84b62a5",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "q7VZ0m3tYp1rLx9sWc5dNf2hKb8jGg4u",
            "hT/+0kQm8xZ4vJr2Lw9sYb6nCd1eFg3p=",
        ] {
            assert_eq!(weakness_of(key), None, "{key}");
        }
    }
}
