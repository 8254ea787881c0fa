//! Allowed dependencies between crates, read from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand};

const DOMAINS: [&str; 9] = [
    "kontor-auth",
    "kontor-catalog",
    "kontor-content",
    "kontor-customers",
    "kontor-orders",
    "kontor-organization",
    "kontor-payments",
    "kontor-subscriptions",
    "kontor-webhooks",
];

/// Small libraries without input or output. `secrecy` keeps secrets out of logs, `futures-util` runs calls
/// concurrently, `slug` transliterates names, `rust-stemmers` removes endings, `bytes` are parts of a content,
/// `ipnet` reads networks, `chrono-tz` has the time zones of projects, `proptest` makes values for the tests of others.
const PURE: [&str; 18] = [
    "async-trait",
    "bytes",
    "chrono",
    "chrono-tz",
    "futures-util",
    "ipnet",
    "mockall",
    "proptest",
    "rust-stemmers",
    "rust_decimal",
    "secrecy",
    "serde",
    "serde_json",
    "slug",
    "strum",
    "thiserror",
    "unicode-normalization",
    "uuid",
];

/// Crates that take money, and so depend on payments.
const TAKE_MONEY: [&str; 2] = ["kontor-orders", "kontor-subscriptions"];

/// API surfaces. They do not know each other.
const SURFACES: [&str; 2] = ["kontor-client-surface", "kontor-platform-surface"];

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .features(CargoOpt::AllFeatures)
        .no_deps()
        .exec()
        .unwrap()
}

/// Returns the direct dependencies of every member, without test dependencies.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let normal = |package: &cargo_metadata::Package| {
        let kept = package.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
        kept.map(|dependency| dependency.name.clone()).collect()
    };
    metadata().packages.iter().map(|package| (package.name.to_string(), normal(package))).collect()
}

fn ours(dependencies: &BTreeSet<String>) -> BTreeSet<&str> {
    dependencies.iter().map(String::as_str).filter(|name| name.starts_with("kontor")).collect()
}

#[test]
fn every_member_has_a_rule() {
    for name in dependencies().keys() {
        let known = name == "kontor"
            || name == "kontor-kernel"
            || name == "kontor-sandbox"
            || name == "kontor-html"
            || name == "kontor-traces"
            || name == "kontor-console"
            || name == "kontor-mcp"
            || name == "kontor-faulty-disk"
            || name == "kontor-bench"
            || name == "kontor-client"
            || name == "kontor-examples"
            || name == "kontor-simulator"
            || name == "kontor-web"
            || SURFACES.contains(&name.as_str())
            || name.starts_with("kontor-adapter-")
            || DOMAINS.contains(&name.as_str());
        assert!(known, "{name}: say here whom it may know");
    }
}

/// Each reusable crate has a description, a package that is built in CI, and a running example.
#[test]
fn kernel_and_domains_have_few_dependencies() {
    let run = include_str!("../../../../.ci/run");
    let packages = metadata().packages;
    for name in DOMAINS.iter().chain(["kontor-kernel"].iter()) {
        let package = packages.iter().find(|package| package.name.as_str() == *name).unwrap();
        assert!(package.description.as_ref().is_some_and(|text| !text.is_empty()), "{name}: no description");
        assert_eq!(package.license.as_deref(), Some("Apache-2.0"), "{name}");
        let folder = package.manifest_path.parent().unwrap();
        let readme = std::fs::read_to_string(folder.join(package.readme.as_ref().unwrap())).unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}: another README");
        assert!(run.split_whitespace().any(|word| word == *name), "{name} is not packed in .ci/run");
        let root = std::fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        assert!(root.contains("\n//! ```\n"), "{name}: no example on the front page");
    }
}

/// Dependencies differ between systems; the guide lists those of this target.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Returns the number of dependencies of a crate outside the workspace.
fn libraries(package: &str) -> usize {
    let tree = ["tree", "--locked", "--edges", "normal", "--prefix", "none", "--target", TARGET, "--package", package];
    let output =
        std::process::Command::new(env!("CARGO")).args(tree).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let named: BTreeSet<Vec<&str>> = lines.lines().map(|line| line.split(' ').take(2).collect()).collect();
    named.iter().filter(|name| !name[0].starts_with("kontor-")).count()
}

#[test]
fn the_reuse_guide_lists_the_dependencies_of_a_crate() {
    let guide = include_str!("../../../../docs/reuse.md");
    for name in DOMAINS.iter().chain(["kontor-kernel"].iter()) {
        let reported = guide.lines().find_map(|line| {
            let mut cells = line.split('|').map(str::trim);
            cells.find(|cell| *cell == format!("`{name}`"))?;
            cells.next()?.parse().ok()
        });
        assert_eq!(reported, Some(libraries(name)), "{name}");
    }
}

#[test]
fn the_kernel_depends_on_no_other_crate() {
    assert!(ours(&dependencies()["kontor-kernel"]).is_empty());
}

#[test]
fn domains_know_the_kernel_and_pure_libraries() {
    let all = dependencies();
    for domain in DOMAINS.iter().chain(["kontor-kernel"].iter()) {
        for name in &all[*domain] {
            let kernel = name == "kontor-kernel" && *domain != "kontor-kernel";
            let payments = name == "kontor-payments" && TAKE_MONEY.contains(domain);
            let allowed = PURE.contains(&name.as_str()) || kernel || payments;
            assert!(allowed, "{domain} must not know {name}");
        }
    }
}

#[test]
fn adapters_depend_on_kernel_and_domains_but_not_on_each_other() {
    for (adapter, dependencies) in dependencies() {
        if !adapter.starts_with("kontor-adapter-") && adapter != "kontor-sandbox" {
            continue;
        }
        for name in ours(&dependencies) {
            let known = if adapter == "kontor-sandbox" { name == "kontor-html" } else { DOMAINS.contains(&name) };
            let traced = name == "kontor-traces" && adapter != "kontor-sandbox";
            assert!(name == "kontor-kernel" || traced || known, "{adapter} must not know {name}");
        }
    }
}

#[test]
fn traces_depend_on_the_kernel_and_adapters_and_the_server_know_them() {
    let all = dependencies();
    assert_eq!(ours(&all["kontor-traces"]), BTreeSet::from(["kontor-kernel"]));
    for (member, dependencies) in &all {
        let allowed = member == "kontor" || member.starts_with("kontor-adapter-");
        assert!(allowed || !dependencies.contains("kontor-traces"), "{member} must not know the traces");
    }
}

#[test]
fn html_depends_on_no_crate_and_has_known_users() {
    let all = dependencies();
    assert!(ours(&all["kontor-html"]).is_empty());
    for (member, dependencies) in &all {
        let allowed = ["kontor", "kontor-sandbox", "kontor-web"].contains(&member.as_str());
        assert!(allowed || !dependencies.contains("kontor-html"), "{member} must not know the pages");
    }
}

/// Idempotency keys, versions and caches are stored by the storage adapter.
#[test]
fn web_depends_on_kernel_domains_and_storage() {
    for name in ours(&dependencies()["kontor-web"]) {
        let known =
            ["kontor-kernel", "kontor-adapter-diesel", "kontor-html"].contains(&name) || DOMAINS.contains(&name);
        assert!(known, "kontor-web must not know {name}");
    }
}

#[test]
fn surfaces_depend_on_web_and_not_on_each_other() {
    let all = dependencies();
    for surface in SURFACES {
        for name in ours(&all[surface]) {
            let known =
                ["kontor-kernel", "kontor-adapter-diesel", "kontor-web"].contains(&name) || DOMAINS.contains(&name);
            assert!(known, "{surface} must not know {name}");
        }
        for (member, dependencies) in &all {
            assert!(!dependencies.contains(surface) || member == "kontor", "{member} must not know {surface}");
        }
    }
}

/// Tools reach the API by requests, never by its handlers or services.
#[test]
fn tools_for_agents_depend_on_web_and_not_on_the_surfaces() {
    let all = dependencies();
    assert_eq!(ours(&all["kontor-mcp"]), BTreeSet::from(["kontor-auth", "kontor-kernel", "kontor-web"]));
    for (member, dependencies) in &all {
        assert!(member == "kontor" || !dependencies.contains("kontor-mcp"), "{member} must not know the tools");
    }
}

#[test]
fn the_console_depends_on_no_other_crate() {
    let all = dependencies();
    assert!(ours(&all["kontor-console"]).is_empty());
    for (member, dependencies) in &all {
        assert!(member == "kontor" || !dependencies.contains("kontor-console"), "{member} must not know the console");
    }
}

#[test]
fn only_the_benchmark_depends_on_the_server() {
    for (member, dependencies) in dependencies() {
        assert!(!dependencies.contains("kontor") || member == "kontor-bench", "{member} must not know the server");
    }
}

#[test]
fn only_the_storage_adapter_and_the_benchmark_know_diesel() {
    for (member, dependencies) in dependencies() {
        let allowed = member == "kontor-adapter-diesel" || member == "kontor-bench";
        assert!(allowed || !dependencies.contains("diesel"), "{member} must not know diesel");
    }
}

/// The crate has unsafe code, and fails on purpose.
#[test]
fn the_faulty_disk_is_a_test_dependency_without_dependencies() {
    let all = dependencies();
    assert!(ours(&all["kontor-faulty-disk"]).is_empty());
    for (member, dependencies) in &all {
        assert!(!dependencies.contains("kontor-faulty-disk"), "{member} must not stand on a disk that fails");
    }
}

#[test]
fn examples_depend_on_the_client_and_the_access_rule() {
    let all = dependencies();
    assert_eq!(ours(&all["kontor-examples"]), BTreeSet::from(["kontor-client", "kontor-subscriptions"]));
    for (member, dependencies) in &all {
        assert!(!dependencies.contains("kontor-examples"), "{member} must not stand on an example");
    }
}

/// The client is for other programs: it knows the API, and no crate of the service.
#[test]
fn the_rust_client_depends_on_no_other_crate() {
    let all = dependencies();
    assert!(ours(&all["kontor-client"]).is_empty());
    assert!(all["kontor-client"].len() <= 15, "{:?}", all["kontor-client"]);
    for (member, dependencies) in &all {
        let allowed = member == "kontor-examples";
        assert!(allowed || !dependencies.contains("kontor-client"), "{member} must not call its own API");
    }
}

#[test]
fn nothing_depends_on_the_simulator() {
    let all = dependencies();
    for name in ours(&all["kontor-simulator"]) {
        let known = name == "kontor-kernel" || name == "kontor-adapter-diesel" || DOMAINS.contains(&name);
        assert!(known, "kontor-simulator must not know {name}");
    }
    for (member, dependencies) in &all {
        assert!(!dependencies.contains("kontor-simulator"), "{member} must not know the simulator");
    }
}
