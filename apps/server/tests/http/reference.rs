//! The pages in `docs/reference`: up to date with the code, and complete.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kontor::cli::reference::pages;
use kontor::openapi::description;
use kontor_kernel::{ApplicationId, Money, OrderId, ProjectId};
use kontor_orders::model::PaidEvent;
use kontor_web::error_codes::ERROR_CODES;
use serde_json::{Value, json};

use crate::support::sources;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_pages_are_up_to_date() {
    for (name, text) in pages().unwrap() {
        let pinned = std::fs::read_to_string(root().join("docs/reference").join(name)).unwrap_or_default();
        let fix = "run `target/debug/kontor reference --out docs/reference`";
        assert!(pinned == text, "docs/reference/{name} differs: {fix}");
    }
}

#[test]
fn every_row_has_a_meaning() {
    let mut rows = 0;
    for (name, text) in pages().unwrap() {
        for line in text.lines() {
            rows += usize::from(line.starts_with("| `"));
            // The last column of the limits is the setting, which most do not have.
            let empty = line.ends_with("| |") && name != "limits.md" || line.ends_with(": .");
            assert!(!empty, "{name}: {line}");
        }
    }
    assert!(rows > 200, "{rows}");
}

#[test]
fn every_error_code_is_in_use() {
    let files = sources(&root().join("apps/server/src")).into_iter().chain(sources(&root().join("crates")));
    let files = files.filter(|file| !file.ends_with("error_codes.rs"));
    let code: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    for row in ERROR_CODES {
        let [text, mention] = [format!("\"{}\"", row.code), format!("`{}`", row.code)];
        assert!(code.contains(&text) || code.contains(&mention), "{} is not used", row.code);
    }
}

#[test]
fn the_described_event_is_the_event_sent() {
    let event = PaidEvent {
        event_id: uuid::Uuid::nil(),
        order_id: OrderId::new(7).unwrap(),
        application_id: ApplicationId::new(3).unwrap(),
        project_id: ProjectId::new(1).unwrap(),
        amount: Money::from_minor(26_550).unwrap(),
        currency: "RUB".to_owned(),
        paid_at: chrono::DateTime::UNIX_EPOCH,
    };
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>();
    let schemas = json!(description())["components"]["schemas"].clone();
    let sent = event.payload();
    assert_eq!(names(&sent), names(&schemas["OrderPaidEvent"]["properties"]));
    assert_eq!(names(&sent["data"]), names(&schemas["OrderPaidData"]["properties"]));
}
