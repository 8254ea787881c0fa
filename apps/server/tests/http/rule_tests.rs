//! Tests of rules stay short: they make large records with the samples of their crate.

use std::path::Path;

use crate::support::sources;

/// Maximum fields that a test writes of one record. A record with more fields has a sample in `testing::samples`.
const MOST: usize = 12;

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns `true` if a literal of a record begins at the end of the line.
fn begins(line: &str) -> bool {
    let Some(head) = line.strip_suffix(" {") else { return false };
    let mut words = head.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
    let named = words.clone().next_back().is_some_and(|name| name.starts_with(char::is_uppercase));
    let is_item = |word: &str| ["struct", "enum", "impl", "trait", "match", "if", "for", "fn"].contains(&word);
    named && !head.contains("->") && !words.any(is_item)
}

/// Returns `true` if the line gives a value to a field.
fn is_field(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(|sign: char| sign.is_ascii_lowercase() || sign == '_');
    rest.len() < line.trim_start().len() && (rest == "," || rest.starts_with(": "))
}

/// Returns the lines, counted from 1, of records with too many written fields.
fn long_records(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let fields = |start: usize| {
        let outer = indent(lines[start]);
        let inside = lines[start + 1..].iter().take_while(|line| line.is_empty() || indent(line) > outer);
        inside.filter(|line| indent(line) == outer + 4 && is_field(line)).count()
    };
    (0..lines.len()).filter(|start| begins(lines[*start]) && fields(*start) > MOST).map(|start| start + 1).collect()
}

/// Returns the part of a source that is compiled for tests alone.
fn tests_of(file: &Path, text: &str) -> String {
    let name = file.display().to_string();
    if name.ends_with("tests.rs") || name.contains("/tests/") || name.ends_with("properties.rs") {
        return text.to_owned();
    }
    text.split_once("\n#[cfg(test)]\nmod tests {").map_or_else(String::new, |(_, tests)| tests.to_owned())
}

#[test]
fn tests_of_rules_use_samples() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let domains = ["catalog", "customers", "orders", "organization", "payments", "subscriptions"];
    let (mut seen, mut wrong) = (0, Vec::new());
    for file in domains.into_iter().flat_map(|domain| sources(&crates.join(domain))) {
        let tests = tests_of(&file, &std::fs::read_to_string(&file).unwrap());
        seen += tests.lines().count();
        wrong.extend(long_records(&tests).into_iter().map(|line| format!("{}: line {line} of tests", file.display())));
    }
    assert!(seen > 5_000, "{seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let record = |fields: usize| format!("    Order {{\n{}    }}\n", "        version: 1,\n".repeat(fields));
    assert_eq!((long_records(&record(MOST)), long_records(&record(MOST + 1))), (vec![], vec![1]));
}
