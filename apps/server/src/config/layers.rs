//! Layers of the configuration, and the parsing of their values.

use std::path::{Path, PathBuf};

use figment::error::Kind;
use figment::providers::{Env, Format, Serialized, Toml};
use figment::value::{Dict, Map};
use figment::{Figment, Metadata, Profile, Provider};
use kontor_kernel::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};

use super::{Config, ConfigError, Environment, Flags, invalid_setting};

/// Settings of the operator: flags, then the environment, then a file. All others have defaults.
#[derive(Clone, Default)]
pub struct Layers(Figment);

/// Returns the database URL in the configuration file of another installation. The environment belongs to this one.
pub fn database_url_in(file: &Path) -> Result<String, ConfigError> {
    let url = Figment::from(Toml::file_exact(file)).extract_inner("database_url");
    url.map_err(|error| ConfigError::Unreadable(without_value(&error)))
}

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

    /// Returns the validated configuration with these defaults. The error names every wrong setting and no value that
    /// may be a secret.
    pub fn over(&self, defaults: &Config) -> Result<Config, ConfigError> {
        let (config, mut faults) = self.readable(defaults)?;
        // Checks of an unreadable setting would judge its default.
        let known: Vec<_> = faults.iter().filter_map(ConfigError::key).map(str::to_owned).collect();
        let unknown = |fault: &ConfigError| fault.key().is_none_or(|key| known.iter().all(|known| known != key));
        faults.extend(config.faults().into_iter().filter(unknown));
        ConfigError::refuse(faults)?;
        Ok(config)
    }

    /// Returns the environment of the service without validating other settings.
    pub fn environment(&self, defaults: &Config) -> Result<Environment, ConfigError> {
        let (config, faults) = self.readable(defaults)?;
        ConfigError::refuse(faults)?;
        Ok(config.env)
    }

    /// Returns the configuration without the settings that cannot be read, and an error for each of these.
    fn readable(&self, defaults: &Config) -> Result<(Config, Vec<ConfigError>), ConfigError> {
        let layers = self.0.data().map_err(|error| {
            // Only the error of a look-up names the file.
            let error = self.0.find_value("env").err().unwrap_or(error);
            ConfigError::Unreadable(without_value(&error) + &source(error.metadata.as_ref()))
        })?;
        let (mut whole, mut faults) = (Figment::new(), Vec::new());
        for (key, value) in layers.into_values().flatten() {
            let layer = || Serialized::default(&key, &value);
            match joined(Figment::from(layer()), defaults) {
                Ok(_) => whole = whole.merge(layer()),
                Err(error) => {
                    let reason = without_value(&error) + &source(self.0.find_metadata(&key));
                    faults.push(invalid_setting(&key, reason));
                }
            }
        }
        let config = joined(whole, defaults).map_err(|error| ConfigError::Unreadable(without_value(&error)))?;
        Ok((config, faults))
    }
}

fn joined(layers: Figment, defaults: &Config) -> Result<Config, Box<figment::Error>> {
    layers.join(Serialized::defaults(defaults)).extract().map_err(Box::new)
}

/// Returns the reason of an error without the value, which may be a secret.
fn without_value(error: &figment::Error) -> String {
    match &error.kind {
        Kind::UnknownField(..) => "unknown key".to_owned(),
        Kind::UnknownVariant(_, known) => format!("must be one of: {}", known.join(", ")),
        Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) => format!("expected {expected}"),
        // An error of a file continues with the line of the file.
        Kind::Message(text) => text.lines().next().unwrap_or_default().to_owned(),
        _ => "cannot be read".to_owned(),
    }
}

/// Returns the source of a value in brackets, if it is known.
fn source(metadata: Option<&Metadata>) -> String {
    metadata.map_or_else(String::new, |metadata| match &metadata.source {
        Some(source) => format!(" ({} {source})", metadata.name),
        None => format!(" ({})", metadata.name),
    })
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
