//! `docs/rules.tsv` names the tests for each rule of the contract. This checks that they exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder with the tests of a binary or the unit tests of a library.
fn folder(first: &str) -> PathBuf {
    let below = match first {
        "http" => "apps/server/tests/http".to_owned(),
        "storage" => "crates/adapter-diesel/tests/storage".to_owned(),
        "messaging" => "crates/adapter-messaging/tests/messaging".to_owned(),
        "kontor" => "apps/server/src".to_owned(),
        library => format!("crates/{}/src", library.strip_prefix("kontor_").unwrap_or(library).replace('_', "-")),
    };
    root().join(below)
}

type Sources = Vec<(PathBuf, String)>;

fn sources(folder: &Path, found: &mut Sources) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

/// Returns `true` if a file at the test's path has a function of its name.
fn is_there(test: &str, known: &mut BTreeMap<String, Sources>) -> bool {
    let parts: Vec<&str> = test.split("::").collect();
    let [first, modules @ .., name] = parts.as_slice() else { return false };
    let files = known.entry((*first).to_owned()).or_insert_with(|| {
        let mut files = Sources::new();
        sources(&folder(first), &mut files);
        files
    });
    let function = format!("fn {name}(");
    let Some(module) = modules.first() else { return false };
    files.iter().any(|(path, text)| {
        let relative = path.strip_prefix(folder(first)).unwrap().with_extension("");
        let in_module = relative.iter().any(|part| part == *module) || text.contains(&format!("mod {module} {{"));
        in_module && text.contains(&function)
    })
}

#[test]
fn every_rule_names_tests_that_are_there() {
    let text = std::fs::read_to_string(root().join("docs/rules.tsv")).unwrap();
    let (mut known, mut lost, mut rules) = (BTreeMap::new(), Vec::new(), 0);
    for (line, number) in text.lines().skip(1).zip(1..) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [rule, _, requirement, state, tests, remark] = cells.as_slice() else { panic!("{line}") };
        assert_eq!(*rule, format!("R{number:03}"));
        assert!(!requirement.is_empty(), "{rule}");
        match *state {
            "held" => assert!(!tests.is_empty(), "{rule}"),
            "decided" | "caller" => assert!(!remark.is_empty(), "{rule}"),
            other => panic!("{rule}: {other}"),
        }
        let named = tests.split("; ").filter(|test| !test.is_empty());
        lost.extend(named.filter(|test| !is_there(test, &mut known)).map(|test| format!("{rule} {test}")));
        rules += 1;
    }
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(rules > 0);
}
