//! Handlers of writes use services of their request. Shared services would neither store the idempotency key nor check
//! the version.

use std::fs;
use std::path::Path;

const WIRING: &str = include_str!("../../src/service/wiring.rs");

/// Shared services that never write.
const READ_ONLY: [&str; 5] = ["Arc<dyn Clock>", "Arc<dyn Random>", "PageViewer", "SuggestionService", "Throttle"];

/// Returns the shared services that may write.
fn shared() -> Vec<&'static str> {
    let (_, set) = WIRING.split_once("SharedServices;\n").unwrap();
    let (set, _) = set.split_once("\n}").unwrap();
    let services = set.lines().map(|line| line.split_once(": ").unwrap().1.trim_end_matches(','));
    services.filter(|service| !READ_ONLY.contains(service)).collect()
}

/// Returns the signatures of the functions that handle writes.
fn writes(source: &str) -> impl Iterator<Item = &str> {
    source.match_indices("#[").filter_map(|(place, _)| {
        let rest = source.get(place + 2..)?;
        ["post(", "put(", "patch(", "delete("].iter().find(|method| rest.starts_with(**method))?;
        let handler = rest.get(rest.find("async fn")?..)?;
        handler.get(..handler.find(" {\n")?)
    })
}

/// Returns the services of `handlers!` that create, change or delete records, once for each of these rows.
fn writing_records(source: &str) -> impl Iterator<Item = &str> {
    source.split("handlers! {").skip(1).flat_map(|rest| {
        let block = rest.split("\n}").next().unwrap_or_default();
        let kinds = ["create", "update", "patch", "post", "delete"];
        let rows = kinds.iter().map(|kind| block.matches(&format!("\n    {kind} \"")).count()).sum();
        // The name of the function that registers the rows may precede the service.
        let head = block.split(", \"").next().unwrap_or_default();
        std::iter::repeat_n(head.rsplit(';').next().unwrap_or_default().trim(), rows)
    })
}

fn visit(folder: &Path, see: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { visit(&path, see) } else { see(&path, &fs::read_to_string(&path).unwrap()) }
    }
}

#[test]
fn handlers_of_writes_use_services_of_their_request() {
    let shared = shared();
    assert!(shared.contains(&"StorefrontService") && shared.len() > 10, "{shared:?}");
    let (mut count, mut faults) = (0, Vec::new());
    for surface in ["client-surface", "platform-surface"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates").join(surface).join("src");
        visit(&folder, &mut |path, source| {
            for write in writes(source) {
                count += 1;
                let found = shared.iter().filter(|service| write.contains(&format!("Data<{service}>")));
                faults.extend(found.map(|service| format!("{}: {service}", path.display())));
            }
            for service in writing_records(source) {
                count += 1;
                if shared.contains(&service) {
                    faults.push(format!("{}: {service}", path.display()));
                }
            }
        });
    }
    assert!(count > 100, "{count} writes");
    assert!(faults.is_empty(), "{faults:?}");
}
