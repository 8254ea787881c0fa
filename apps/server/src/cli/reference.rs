//! `kontor openapi` and `kontor reference`: the API description, and the pages in `docs/reference` that are made from
//! the code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, CommandFactory as _};
use kontor_kernel::Permission;
use serde_json::{Value, json};
use utoipa::PartialSchema as _;

use super::{Arguments, Failure, operate};
use crate::config::Config;
use crate::service::openapi::{description, pinned_text};
use kontor_web::error_codes::ERROR_CODES;
use kontor_web::limits::TABLE;

/// Prints, writes or checks the description.
pub fn write_description(out: Option<PathBuf>, check: bool) -> Result<(), Failure> {
    let text = pinned_text(&description())?;
    if check {
        let file = out.unwrap_or_else(|| PathBuf::from("docs/openapi.json"));
        let pinned = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        if pinned != text {
            let path = file.display();
            return Err(format!("{path} differs from the code; run `kontor openapi --out {path}`").into());
        }
        println!("{} is up to date", file.display());
    } else if let Some(file) = out {
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    } else {
        print!("{text}");
    }
    Ok(())
}

/// Prints, writes or checks the pages.
pub fn run(out: Option<PathBuf>, check: bool) -> Result<(), Failure> {
    let pages = pages()?;
    let folder = out.clone().unwrap_or_else(|| PathBuf::from("docs/reference"));
    for (name, text) in &pages {
        let file = folder.join(name);
        let named = |error: std::io::Error| format!("{}: {error}", file.display());
        if check {
            if std::fs::read_to_string(&file).map_err(named)? != *text {
                let (file, folder) = (file.display(), folder.display());
                return Err(format!("{file} differs from the code; run `kontor reference --out {folder}`").into());
            }
        } else if out.is_some() {
            std::fs::write(&file, text).map_err(named)?;
        } else {
            print!("{text}");
        }
    }
    if check {
        println!("{} is up to date", folder.display());
    }
    Ok(())
}

/// Returns the file name and the text of every page.
pub fn pages() -> Result<[(&'static str, String); 7], Failure> {
    let api: Value = serde_json::from_str(&pinned_text(&description())?)?;
    let page = |title: &str, intro: &str, body: String| {
        format!("# {title}\n\nMade from the code by `kontor reference`. Do not edit.\n\n{intro}\n\n{body}")
    };
    Ok([
        ("commands.md", page("Commands", COMMANDS, commands())),
        ("config.schema.json", operate::schema()?),
        ("configuration.md", page("Settings", SETTINGS, keys()?)),
        ("errors.md", page("Error codes", ERRORS, errors())),
        ("events.md", page("Webhook events", EVENTS, events(&api))),
        ("limits.md", page("Rate limits", LIMITS, limits())),
        ("permissions.md", page("Permissions", PERMISSIONS, permissions(&api))),
    ])
}

const COMMANDS: &str = "\
Every command also has `--config <FILE>` (configuration file instead of `./kontor.toml`) and `--help`. `--database` is the address
of the database, `--json` prints JSON. [Install](../operations/install.md#commands) shows the commands in use.";
const SETTINGS: &str = "\
Keys of `kontor.toml` with their defaults as TOML. The environment variable of a key is `KONTOR_` and the key in upper case.
[`config.schema.json`](config.schema.json) is the JSON Schema of the file, for editors; `kontor config check` checks a configuration.
[Configuration](../operations/configuration.md) explains the sources and groups of settings.";
const ERRORS: &str = "\
Errors with a code have the body `{message, error: {code, message, next_action, retry_after_seconds, request_id}}`. `message` is
the code, and for an invalid App Token its fixed text. Other errors have `{message}`; a `422` adds `errors`, messages by dotted
path.

| `next_action` | meaning |
|---|---|
| `fix_input` | Correct the request. |
| `contact_support` | Stop. Show `request_id` to the support. |
| `restart` | Read the current state and begin again. |
| `poll` | Send the same request again after `retry_after_seconds`. |
| `wait` | Wait, then try again. |";
const EVENTS: &str = "\
[Webhooks](../guides/webhooks.md) shows how to receive and verify a delivery.";
const LIMITS: &str = "\
All other requests are unlimited. `multiplies`: the setting `code_limit_factor` multiplies the limit.
[Configuration](../operations/configuration.md#limits) explains the settings.";
const PERMISSIONS: &str = "\
A request needs all permissions of its operation; others than the one of the row are in brackets. `edit` includes `create`. Jobs
are read with the permissions for their records. Permissions that a project defines itself open nothing here.";

/// Builds a table. Bars in cells are escaped, line breaks become spaces.
fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: &[String; N]| {
        let cells = cells.each_ref().map(|cell| cell.replace('\n', " ").replace('|', "\\|"));
        format!("| {} |\n", cells.join(" | ")).replace("|  ", "| ")
    };
    let rows: String = rows.into_iter().map(|cells| line(&cells)).collect();
    format!("{}|{}\n{rows}", line(&head.map(str::to_owned)), "---|".repeat(N))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Returns the text at a JSON pointer, or an empty one.
fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the entries of an object or a list at a JSON pointer.
fn entries<'a>(value: &'a Value, pointer: &str) -> Vec<(&'a str, &'a Value)> {
    match value.pointer(pointer) {
        Some(Value::Object(fields)) => fields.iter().map(|(name, value)| (name.as_str(), value)).collect(),
        Some(Value::Array(items)) => items.iter().map(|item| ("", item)).collect(),
        _ => Vec::new(),
    }
}

fn keys() -> Result<String, Failure> {
    let schema = json!(Config::schema());
    let defaults = toml::to_string(&Config::default())?;
    let rows = defaults.lines().filter_map(|line| line.split_once(" = "));
    Ok(table(
        ["key", "default", "meaning"],
        rows.map(|(key, default)| [code(key), code(default), text(&schema, &format!("/properties/{key}/description"))]),
    ))
}

fn commands() -> String {
    let mut lines = Vec::new();
    let root = Arguments::command();
    for command in root.get_subcommands() {
        if command.has_subcommands() {
            lines.push(format!("\n## kontor {}\n", command.get_name()));
            if !command.is_subcommand_required_set() {
                describe(&format!("kontor {}", command.get_name()), command, &mut lines);
            }
            for inner in command.get_subcommands() {
                describe(&format!("kontor {} {}", command.get_name(), inner.get_name()), inner, &mut lines);
            }
        } else {
            describe(&format!("kontor {}", command.get_name()), command, &mut lines);
        }
    }
    lines.join("\n").trim_start().to_owned() + "\n"
}

/// Adds a command with its options. Those that many commands have are explained once.
fn describe(name: &str, command: &clap::Command, lines: &mut Vec<String>) {
    let (common, own): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().partition(|option| ["database", "json"].contains(&option.get_id().as_str()));
    let common: Vec<String> = common.iter().map(|option| format!(" [--{}]", option.get_id())).collect();
    lines.push(format!("- `{name}{}`: {}", common.concat(), sentence(command.get_about())));
    for option in own {
        let flag = option.get_long().map(|long| format!("--{long}"));
        let value = option.get_value_names().and_then(<[_]>::first).filter(|_| option.get_action().takes_values());
        let value = value.map(|name| format!("<{name}>"));
        let usage = [flag, value].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let required = if option.is_required_set() { " (required)" } else { "" };
        let default = option.get_default_values().first().map(|value| format!(" Default: `{}`.", value.display()));
        let meaning = sentence(option.get_help());
        lines.push(format!("  - `{usage}`{required}: {meaning}{}", default.unwrap_or_default()));
    }
}

/// Returns the help text in one line with its full stop, which the parser of the command line takes off.
fn sentence(help: Option<&clap::builder::StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default().replace('\n', " ");
    if text.ends_with('.') { text } else { text + "." }
}

fn errors() -> String {
    let next = |row: &kontor_web::error_codes::ErrorCode| code(json!(row.next_action).as_str().unwrap_or_default());
    table(
        ["code", "status", "`next_action`", "meaning"],
        ERROR_CODES.iter().map(|row| [code(row.code), row.status.to_string(), next(row), row.meaning.to_owned()]),
    )
}

fn limits() -> String {
    let operation = |name: &str| if name.contains('/') { code(name) } else { name.to_owned() };
    table(
        ["operation", "limit", "counted by", "setting"],
        TABLE
            .iter()
            .map(|row| [operation(row.operation), row.words(), row.subject.to_owned(), row.setting().to_owned()]),
    )
}

fn permissions(api: &Value) -> String {
    let mut allowed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, path) in entries(api, "/paths") {
        for (_, operation) in entries(path, "") {
            let needed: Vec<String> =
                entries(operation, "/x-permissions").iter().filter_map(|(_, name)| name.as_str().map(code)).collect();
            for name in &needed {
                let others: Vec<&str> = needed.iter().filter(|other| *other != name).map(String::as_str).collect();
                let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
                allowed.entry(name.clone()).or_default().push(text(operation, "/summary") + &others);
            }
        }
    }
    let operations = |name: &str| allowed.get(name).map_or_else(|| "no operation".to_owned(), |all| all.join("; "));
    let names = Permission::all().map(|permission| code(&permission.to_string()));
    table(["permission", "operations"], names.map(|name| [name.clone(), operations(&name)]))
}

fn events(api: &Value) -> String {
    let mut page = Vec::new();
    for (name, item) in entries(api, "/webhooks") {
        let headers = entries(item, "/post/parameters");
        let headers = headers.iter().map(|(_, header)| [code(&text(header, "/name")), text(header, "/description")]);
        let body = text(item, "/post/requestBody/content/application~1json/schema/$ref");
        page.push(format!(
            "## `{name}`\n\n{} {}\n\n{}\n{}",
            text(item, "/post/summary"),
            text(item, "/post/description"),
            table(["header", "value"], headers),
            table(["field", "type", "meaning"], fields(api, &body, "")),
        ));
    }
    page.join("\n")
}

/// Returns the fields of a schema and of the objects in it, by dotted path.
fn fields(api: &Value, schema: &str, prefix: &str) -> Vec<[String; 3]> {
    let properties = entries(api, &format!("{}/properties", schema.trim_start_matches('#')));
    let rows = properties.into_iter().flat_map(|(name, field)| {
        let (path, inner) = (format!("{prefix}{name}"), text(field, "/$ref"));
        if !inner.is_empty() {
            return fields(api, &inner, &format!("{path}."));
        }
        let kind = [text(field, "/type"), text(field, "/format")].into_iter().filter(|word| !word.is_empty());
        vec![[code(&path), kind.collect::<Vec<_>>().join(", "), text(field, "/description")]]
    });
    rows.collect()
}
