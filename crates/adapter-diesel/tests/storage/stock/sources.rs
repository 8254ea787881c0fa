//! No other module changes figures of stock.

use std::fs;
use std::path::Path;

const FORBIDDEN: [&str; 8] = [
    "update(inventories::table",
    "insert_into(inventories::table",
    "delete(inventories::table",
    "inventories::quantity.eq(",
    "inventories::reserved.eq(",
    "UPDATEinventories",
    "INTOinventories",
    "DELETEFROMinventories",
];

/// Files below a folder that write to `inventories`, with their statements.
fn writers(folder: &Path, found: &mut Vec<(String, &'static str)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            writers(&path, found);
        } else {
            let text: String = fs::read_to_string(&path).unwrap().split_whitespace().collect();
            found.extend(
                FORBIDDEN.iter().filter(|word| text.contains(**word)).map(|word| (path.display().to_string(), *word)),
            );
        }
    }
}

#[test]
fn only_the_ledger_writes_figures() {
    let mut found = Vec::new();
    writers(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut found);
    // Stock created for tests is written without the ledger.
    found.retain(|(path, _)| !path.contains("/src/testing/"));
    let (ledger, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(path, _)| path.contains("/src/stock/"));
    assert!(others.is_empty(), "{others:?}");
    assert!(ledger.len() >= 4, "the search finds the ledger itself: {ledger:?}");
}

#[test]
fn no_other_crate_knows_the_table() {
    let mut found = Vec::new();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for folder in ["apps", "crates"] {
        for package in fs::read_dir(root.join(folder)).unwrap() {
            let package = package.unwrap().path();
            // The benchmark fills its market directly and creates the ledger afterwards.
            let is_exempt = package.ends_with("adapter-diesel") || package.ends_with("bench");
            if !is_exempt && package.join("src").is_dir() {
                writers(&package.join("src"), &mut found);
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}
