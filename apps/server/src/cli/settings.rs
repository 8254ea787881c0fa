//! `kontor config`

use clap::Subcommand;
use serde_json::{Value, json};
use utoipa::PartialSchema as _;

use super::Failure;
use crate::config::{Config, ConfigError};

/// Subcommands of `kontor config`.
#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Read the configuration as the other commands do, and name every wrong key. Exits with 1 if there is one. No
    /// secret is printed.
    Check,
    /// Print the JSON Schema of kontor.toml.
    Schema,
}

/// Settings with a fixed set of words.
const WORDS: [(&str, &[&str]); 4] = [
    ("env", &["development", "production"]),
    ("log_format", &["json", "text"]),
    ("phone_codes", &["call", "sms"]),
    ("smtp_tls", &["none", "starttls", "tls"]),
];

/// Runs the command.
pub fn run(load: impl FnOnce() -> Result<Config, ConfigError>, command: Option<ConfigCommand>) -> Result<(), Failure> {
    match command {
        None => print!("{}", load()?.masked()?),
        Some(ConfigCommand::Check) => {
            load()?;
            println!("the configuration is valid");
        }
        Some(ConfigCommand::Schema) => print!("{}", schema()?),
    }
    Ok(())
}

/// Returns the JSON Schema of the configuration file as text.
pub fn schema() -> Result<String, Failure> {
    let mut described = json!(Config::schema());
    let mut properties = described.get_mut("properties").map(Value::take).unwrap_or_default();
    let defaults = json!(Config::default());
    for (key, property) in properties.as_object_mut().into_iter().flatten() {
        let default = defaults.get(key).cloned().unwrap_or_default();
        if default.is_array() {
            property["type"] = json!(["array", "string"]);
        }
        if let Some((_, words)) = WORDS.iter().find(|(name, _)| name == key) {
            property["enum"] = json!(words);
        }
        property["default"] = default;
    }
    let schema: Value = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kontor.toml",
        "description": "Settings of Kontor. Made from the code by `kontor config schema`.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_schema_knows_every_setting_and_its_words() {
        let schema: Value = serde_json::from_str(&schema().unwrap()).unwrap();
        let defaults = json!(Config::default());
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(keys(&schema["properties"]), keys(&defaults));
        for (key, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{key}");
            assert_eq!(property["default"], defaults[key]);
        }
        for (key, words) in WORDS {
            let with = |word: &str| {
                let mut settings = defaults.clone();
                settings[key] = json!(word);
                serde_json::from_value::<Config>(settings).is_ok_and(|config| config.check().is_ok())
            };
            assert_eq!(schema["properties"][key]["enum"], json!(words));
            assert!(!with("other"), "{key}");
            let mut safe = words.iter().filter(|word| **word != "production");
            assert!(safe.all(|word| with(word)), "{key}");
        }
    }
}
