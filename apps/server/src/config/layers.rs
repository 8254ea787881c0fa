//! How values of the layers are read.

use figment::providers::{Env, Serialized};
use figment::value::{Dict, Map};
use figment::{Metadata, Profile, Provider};
use kontor_kernel::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};

use super::Config;

/// `KONTOR_*` as it is written: where the default is a text no number is seen, or `00123` would lose its zeros.
pub(super) struct EnvironmentLayer(pub(super) Env);

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

/// Secrets are plain texts in the layers; printing goes through [`Config::masked`].
pub(super) mod shown {
    use super::{Deserialize, Deserializer, ExposeSecret, SecretString};

    pub fn serialize<S: serde::Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose_secret())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }
}

/// A list, or one text with commas.
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
