//! In tests: which tables a step writes to, so that none changes what others remember without noting it.

use std::cell::RefCell;

use super::marks::{Noted, Topic};

/// Tables that storefronts show.
const SHOWN: &[&str] = &[
    "nomenclatures",
    "nomenclature_photos",
    "nomenclature_tags",
    "storefront_offers",
    "inventories",
    "warehouse_applications",
    "categories",
    "brands",
    "tags",
    "countries",
    "storage_units",
    "application_categories",
    "application_brands",
    "application_payment_types",
    "discounts",
    "slides",
    "subscription_nomenclatures",
];

/// Tables by which somebody is let in, and what shuts him out.
const LETS_IN: &[(&str, &[&str], &[Topic])] = &[
    ("access_tokens", &["DELETE FROM "], &[Topic::Access]),
    ("applications", &["UPDATE ", "DELETE FROM "], &[Topic::Access, Topic::Shelves]),
    ("introspection_clients", &["UPDATE ", "DELETE FROM "], &[Topic::Access]),
];

const WRITES: [&str; 3] = ["INSERT INTO ", "UPDATE ", "DELETE FROM "];

thread_local! {
    static WRITTEN: RefCell<Vec<(Topic, String)>> = RefCell::default();
}

/// Which tables a statement writes to, and how.
fn writes(statement: &str) -> impl Iterator<Item = (&'static str, String)> {
    let text = statement.split(" -- binds:").next().unwrap_or_default();
    WRITES.into_iter().flat_map(move |verb| {
        text.match_indices(verb).map(move |(place, _)| {
            let rest = text.get(place + verb.len()..).unwrap_or_default();
            let rest = rest.trim_start_matches(['"', '`']);
            let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
            (verb, rest.get(..end).unwrap_or_default().to_owned())
        })
    })
}

/// Remembers what the statement writes to.
pub(super) fn statement(statement: &str) {
    for (verb, table) in writes(statement) {
        let shown = SHOWN.contains(&table.as_str()).then_some(Topic::Shelves);
        let shuts_out = LETS_IN.iter().filter(|(name, verbs, _)| *name == table && verbs.contains(&verb));
        let topics = shown.into_iter().chain(shuts_out.flat_map(|(.., topics)| topics.iter().copied()));
        WRITTEN.with_borrow_mut(|written| written.extend(topics.map(|topic| (topic, format!("{verb}{table}")))));
    }
}

/// Forgets what an earlier step on this thread wrote.
pub(super) fn forget() {
    WRITTEN.take();
}

/// A table that was written to without a note of its topic.
pub(super) fn forgotten(noted: &Noted) -> Option<String> {
    let written = WRITTEN.take();
    written.into_iter().find(|(topic, _)| !noted.tells_of(*topic)).map(|(topic, what)| format!("{what}: {topic:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_found_in_any_spelling() {
        let of = |text: &str| writes(text).map(|(verb, table)| format!("{verb}{table}")).collect::<Vec<_>>();
        assert_eq!(of("UPDATE `brands` SET x = 1 -- binds: [\"DELETE FROM tags\"]"), ["UPDATE brands"]);
        assert_eq!(of("INSERT INTO \"tags\" (id) VALUES (1)"), ["INSERT INTO tags"]);
        assert_eq!(of("DELETE FROM storefront_offers WHERE id IN (1)"), ["DELETE FROM storefront_offers"]);
        assert_eq!(of("SELECT 1 FROM brands"), [""; 0]);
    }
}
