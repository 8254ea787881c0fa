//! Files in `packaging/`: what they set and call exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kontor::config::Config;
use serde_json::json;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    inside.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn kontor(arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kontor"));
    command.args(arguments).env_clear().envs(settings.iter().copied()).current_dir(folder()).output().unwrap()
}

/// Returns the texts of the services.
fn units() -> Vec<String> {
    let all = files(&folder().join("systemd")).into_iter();
    let services = all.filter(|path| path.extension().is_some_and(|end| end == "service"));
    services.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Returns the part of a unit that restricts the process.
fn sandbox(unit: &str) -> String {
    let (_, behind) = unit.split_once("# Sandbox.").unwrap();
    behind.split_once("[Install]").unwrap().0.to_owned()
}

#[test]
fn units_share_their_sandbox() {
    let sandboxes: BTreeSet<_> = units().iter().map(|unit| sandbox(unit)).collect();
    assert_eq!(sandboxes.len(), 1, "{sandboxes:?}");
}

#[test]
fn units_of_timers_have_a_timeout() {
    // systemd sets none for them.
    let units: Vec<_> = units().into_iter().filter(|unit| unit.contains("\nType=oneshot\n")).collect();
    assert_eq!(units.len(), 3, "{units:?}");
    assert!(units.iter().all(|unit| unit.contains("\nTimeoutStartSec=")), "{units:?}");
}

#[test]
fn every_variable_is_a_setting() {
    let settings = json!(Config::default());
    let mut seen = BTreeSet::new();
    for path in files(&folder()) {
        let text = std::fs::read_to_string(&path).unwrap();
        let words = text.split(|sign: char| !sign.is_ascii_uppercase() && !sign.is_ascii_digit() && sign != '_');
        for key in words.filter_map(|word| word.strip_prefix("KONTOR_")) {
            assert!(settings.get(key.to_lowercase()).is_some(), "{}: KONTOR_{key}", path.display());
            seen.insert(key.to_owned());
        }
    }
    assert!(seen.len() > 10, "{seen:?}");
}

#[test]
fn every_option_in_use_exists() {
    for (command, option) in [
        ("serve", "--no-worker"),
        ("worker", "--monitoring"),
        ("health", "--address"),
        ("health", "--ready"),
        ("backup upload", "--keep-days"),
        ("backup check", "--max-age-hours"),
    ] {
        let used = files(&folder()).iter().any(|path| std::fs::read_to_string(path).unwrap().contains(option));
        let help = kontor(&command.split(' ').chain(["--help"]).collect::<Vec<_>>(), &[]);
        assert!(used && String::from_utf8_lossy(&help.stdout).contains(option), "kontor {command} {option}");
    }
}

#[test]
fn the_packaged_configuration_needs_a_key_alone() {
    let check = ["--config", "etc/kontor.toml", "config", "check"];
    let refused = kontor(&check, &[]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && error.contains("configuration: secret_key: "), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let key = ("KONTOR_SECRET_KEY", "d41c8f07b6a29e5330f1c7d9e84b62a5");
    let accepted = kontor(&check, &[key]);
    assert!(accepted.status.success(), "{}", String::from_utf8_lossy(&accepted.stderr));
    // Lines in comments are settings, too.
    let whole: String =
        text("etc/kontor.toml").lines().map(|line| line.trim_start_matches('#').to_owned() + "\n").collect();
    let settings: String =
        whole.lines().filter(|line| line.contains(" = ")).map(|line| line.to_owned() + "\n").collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), settings).unwrap();
    let accepted = kontor(&["--config", file.path().to_str().unwrap(), "config", "check"], &[key]);
    assert!(accepted.status.success(), "{}", String::from_utf8_lossy(&accepted.stderr));
}
