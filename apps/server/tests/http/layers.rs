//! The layers inside the server and the storage adapter: which modules may use which, read from their sources. The layers are
//! described in docs/architecture.md.

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use source::Sources;

/// Allowed uses between modules of the same layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coupling {
    /// They are one unit in several files.
    Unit,
    /// They may use each other, but without cycles of files, neither among nor within them.
    Acyclic,
    /// They do not use each other.
    Isolated,
}

/// Modules of the same layer.
struct Floor {
    name: &'static str,
    modules: &'static [&'static str],
    coupling: Coupling,
}

const fn floor(name: &'static str, coupling: Coupling, modules: &'static [&'static str]) -> Floor {
    Floor { name, modules, coupling }
}

/// From bottom to top: a layer uses the layers below it.
const SERVER: &[Floor] = &[
    floor("ground", Coupling::Isolated, &["adapters", "callbacks", "config"]),
    floor("service", Coupling::Acyclic, &["service"]),
    floor("command line", Coupling::Isolated, &["cli"]),
];

const STORAGE: &[Floor] = &[
    // Statements run on connections, and the database runs statements of its own.
    floor("database", Coupling::Unit, &["database", "time_codec", "statement", "decode", "unreadable"]),
    floor("tools", Coupling::Acyclic, &["collation", "histories", "listing", "records", "schema", "versions"]),
    floor(
        "what domains share",
        Coupling::Acyclic,
        &[
            "applications",
            "bank_requisites",
            "changes",
            "discount_rows",
            "lease",
            "locks",
            "customer_data",
            "order_history",
            "read_models",
            "stock",
        ],
    ),
    // As their crates do, orders and subscriptions use payments and not each other.
    floor("payments", Coupling::Isolated, &["payments"]),
    floor(
        "domains",
        Coupling::Isolated,
        &["auth", "catalog", "content", "customers", "orders", "organization", "subscriptions", "webhooks"],
    ),
    floor("where domains meet", Coupling::Acyclic, &["charge_outcomes", "exports"]),
    floor(
        "above the domains",
        Coupling::Acyclic,
        &["doctor", "project_move", "queues", "demo_data", "tables", "testing", "upkeep"],
    ),
];

fn sources(package: &str) -> Sources {
    Sources::below(&Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(package).join("src"))
}

/// Returns all violations in a crate.
fn faults(sources: &Sources, floors: &[Floor]) -> Vec<String> {
    let floor_of = |module: &str| floors.iter().position(|floor| floor.modules.contains(&module));
    let mut faults: Vec<String> = Vec::new();
    let listed: Vec<&str> = floors.iter().flat_map(|floor| floor.modules.iter().copied()).collect();
    let present = sources.top();
    faults.extend(
        present.iter().filter(|module| !listed.contains(module)).map(|module| format!("{module}: say on which floor")),
    );
    faults.extend(
        listed.iter().filter(|module| !present.contains(**module)).map(|module| format!("{module} is not there")),
    );
    for arrow in sources.arrows() {
        // The crate root only lists its modules; re-exports count where they are declared.
        let (Some(from), Some(to)) = (arrow.from.first(), arrow.to.first()) else { continue };
        let (Some(low), Some(high)) = (floor_of(from), floor_of(to)) else { continue };
        let line = format!("{}: {}", arrow.from.join("::"), arrow.path);
        if high > low {
            faults.push(format!("{line} runs up, from {} to {}", floors[low].name, floors[high].name));
        } else if high == low && from != to && floors[low].coupling == Coupling::Isolated {
            faults.push(format!("{line} runs across, among {}", floors[low].name));
        }
    }
    let ordered = |module: &[String]| {
        let floor = module.first().and_then(|module| floor_of(module)).and_then(|floor| floors.get(floor));
        floor.is_some_and(|floor| floor.coupling == Coupling::Acyclic)
    };
    faults.extend(circles(sources, ordered).into_iter().map(|circle| format!("in a circle: {}", circle.join(", "))));
    faults
}

/// Returns cycles of files in the chosen modules. A module and its submodules are one unit, so uses between them do
/// not count.
fn circles(sources: &Sources, among: impl Fn(&[String]) -> bool) -> Vec<Vec<String>> {
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for arrow in sources.arrows() {
        let (from, to) = (sources.file_of(&arrow.from), sources.file_of(&arrow.to));
        let is_within = from.starts_with(&to) || to.starts_with(&from);
        if !is_within && among(&from) && among(&to) {
            arrows.entry(from.join("::")).or_default().insert(to.join("::"));
        }
    }
    let reached = |start: &String| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![start]);
        while let Some(at) = left.pop() {
            left.extend(arrows.get(at).into_iter().flatten().filter(|next| seen.insert((*next).clone())));
        }
        seen
    };
    let all: BTreeMap<&String, BTreeSet<String>> = arrows.keys().map(|start| (start, reached(start))).collect();
    let round = |start: &String, seen: &BTreeSet<String>| -> Vec<String> {
        seen.iter().filter(|other| all.get(other).is_some_and(|back| back.contains(start))).cloned().collect()
    };
    let circles: BTreeSet<Vec<String>> = all.iter().map(|(start, seen)| round(start, seen)).collect();
    circles.into_iter().filter(|circle| circle.len() > 1).collect()
}

fn assert_stands(sources: &Sources, floors: &[Floor]) {
    let faults = faults(sources, floors);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn modules_of_the_server_follow_its_layers() {
    assert_stands(&sources("apps/server"), SERVER);
}

#[test]
fn modules_of_the_storage_follow_its_layers() {
    assert_stands(&sources("crates/adapter-diesel"), STORAGE);
}

#[test]
fn files_of_the_surfaces_and_their_kit_form_no_cycles() {
    for package in ["crates/web", "crates/client-surface", "crates/platform-surface"] {
        let circles = circles(&sources(package), |_| true);
        assert!(circles.is_empty(), "{package}: {circles:?}");
    }
}

#[test]
fn the_reader_sees_the_crates() {
    let packages = [
        ("apps/server", 200),
        ("crates/adapter-diesel", 300),
        ("crates/client-surface", 20),
        ("crates/platform-surface", 100),
        ("crates/web", 100),
    ];
    for (package, least) in packages {
        let arrows = sources(package).arrows();
        assert!(arrows.len() > least, "{package}: {} arrows", arrows.len());
    }
}

/// Returns the tables in the diesel schema.
fn tables(package: &str) -> BTreeSet<String> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(package).join("src/schema.rs");
    let text = std::fs::read_to_string(path).unwrap();
    let behind = text.split("table! {").skip(1).filter_map(|table| table.split_whitespace().next());
    behind.map(ToOwned::to_owned).collect()
}

#[test]
fn the_database_layer_uses_no_domain() {
    let (storage, tables) = (sources("crates/adapter-diesel"), tables("crates/adapter-diesel"));
    assert!(tables.len() > 50, "{tables:?}");
    for top in STORAGE.first().unwrap().modules {
        let named: Vec<_> = storage.words(top).into_iter().filter(|word| tables.contains(*word)).collect();
        assert!(named.is_empty(), "{top} names the tables {named:?}");
        let crates =
            storage.crates().into_iter().filter(|(module, _)| module.first().is_some_and(|first| first == top));
        for (module, name) in crates.filter(|(_, name)| name.starts_with("kontor_")) {
            assert_eq!(name, "kontor_kernel", "{}", module.join("::"));
        }
    }
    assert!(storage.words("stock").contains("inventories"), "words of statements are seen");
    assert!(storage.crates().iter().any(|(_, name)| name == "kontor_auth"), "names of crates are seen");
}

#[test]
fn wrong_lines_are_found() {
    const HOUSE: &[Floor] = &[
        floor("ground", Coupling::Acyclic, &["base", "tool"]),
        floor("domains", Coupling::Isolated, &["one", "other"]),
        floor("roof", Coupling::Unit, &["top"]),
    ];
    let faults_of = |changed: &[(&str, &str)]| {
        let mut texts: BTreeMap<&str, &str> = ["", "base", "base::inner", "base::next", "tool", "one", "other", "top"]
            .into_iter()
            .map(|module| (module, ""))
            .collect();
        texts.extend(changed.iter().copied());
        let texts: Vec<(String, &str)> = texts.into_iter().map(|(module, text)| (module.to_owned(), text)).collect();
        faults(&Sources::of(&texts), HOUSE)
    };
    let sound: [&[(&str, &str)]; 6] = [
        &[],
        &[("one", "use crate::base::Thing;"), ("top", "use crate::{one, other};")],
        &[("tool", "use crate::base;")],
        &[("base", "mod inner; use inner::X;"), ("base::inner", "use super::Y;")],
        &[("one", "// use crate::other;\n#[cfg(test)]\nmod tests { use crate::top; }")],
        &[("", "mod top; pub use top::Thing;")],
    ];
    for lines in sound {
        assert_eq!(faults_of(lines), Vec::<String>::new(), "{lines:?}");
    }
    let wrong: [(&[(&str, &str)], &str); 9] = [
        (&[("base", "use crate::one::Thing;")], "runs up"),
        (&[("base::inner", "fn f() { super::super::one::call() }")], "runs up"),
        (&[("base", "use crate::Thing;"), ("", "pub use top::Thing;")], "runs up"),
        (&[("one", "use crate::{base, other::Thing};")], "runs across"),
        (&[("one", "fn f() -> crate::other::Thing { loop {} }")], "runs across"),
        (&[("base", "use crate::tool;"), ("tool", "use crate::base;")], "in a circle: base, tool"),
        (
            &[("base::inner", "use super::next::X;"), ("base::next", "use super::inner::Y;")],
            "in a circle: base::inner, base::next",
        ),
        (&[("cellar", "")], "cellar: say on which floor"),
        (&[("base::inner", "mod deep { use super::super::super::top; }")], "runs up"),
    ];
    for (lines, expected) in wrong {
        let found = faults_of(lines);
        assert!(found.len() == 1 && found[0].contains(expected), "{lines:?}: {found:?}");
    }
}
