//! Layers of the configuration, and the parsing of their values.

use std::path::PathBuf;

use figment::providers::{Env, Format, Serialized, Toml};
use figment::value::{Dict, Map};
use figment::{Figment, Metadata, Profile, Provider};
use kontor_kernel::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};

use super::{Config, ConfigError, Environment, Flags};

/// Settings of the operator: flags, then the environment, then a file. All others have defaults.
#[derive(Clone, Default)]
pub struct Layers(Figment);

impl Layers {
    /// Reads the layers. Errors of values are reported by [`Layers::over`].
    pub fn read(file: Option<PathBuf>, flags: Flags) -> Self {
        let mut figment = Figment::new();
        if let Some(url) = Env::var("DATABASE_URL") {
            figment = figment.merge(Serialized::default("database_url", url));
        }
        figment = match file {
            Some(file) => figment.merge(Toml::file_exact(file)),
            None => figment.merge(Toml::file("kontor.toml")),
        };
        // KONTOR_DATABASE_URL wins over the file, the file over DATABASE_URL.
        Self(figment.merge(EnvironmentLayer(Env::prefixed("KONTOR_"))).merge(Serialized::defaults(flags)))
    }

    /// Returns the validated configuration with these defaults.
    pub fn over(&self, defaults: &Config) -> Result<Config, ConfigError> {
        let config = self.unchecked(defaults)?;
        config.check()?;
        Ok(config)
    }

    /// Returns the environment of the service without validating other settings.
    pub fn environment(&self, defaults: &Config) -> Result<Environment, ConfigError> {
        Ok(self.unchecked(defaults)?.env)
    }

    fn unchecked(&self, defaults: &Config) -> Result<Config, ConfigError> {
        // The layers come first: joined to the defaults, errors would lose the source of a value.
        let whole = self.0.clone().join(Serialized::defaults(defaults));
        whole.extract().map_err(|error| ConfigError::Unreadable(Box::new(error)))
    }
}

/// `KONTOR_*` variables, parsed without numbers for settings whose default is a text: otherwise `00123` would lose its
/// zeros.
struct EnvironmentLayer(Env);

impl Provider for EnvironmentLayer {
    fn metadata(&self) -> Metadata {
        self.0.metadata()
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let defaults = Serialized::defaults(Config::default()).data()?;
        let is_text =
            |key: &str| defaults.values().any(|layer| layer.get(key).is_some_and(|value| value.as_str().is_some()));
        let mut data = self.0.data()?;
        for (key, text) in self.0.iter().filter(|(key, _)| is_text(key.as_str())) {
            for layer in data.values_mut() {
                layer.insert(key.to_string(), text.clone().into());
            }
        }
        Ok(data)
    }
}

/// Secrets as plain text in the layers. Printing uses [`Config::masked`].
pub(super) mod shown {
    use super::{Deserialize, Deserializer, ExposeSecret, SecretString};

    pub fn serialize<S: serde::Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose_secret())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }
}

/// Reads a list, or one text with commas.
pub(super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::Many(items) => items,
        OneOrMany::One(text) => {
            text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
        }
    })
}
