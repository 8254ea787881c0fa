//! In tests: which tables a step writes to, so that none changes what others remember without invalidating it.

use std::cell::RefCell;

use super::invalidation::Invalidations;
use super::tables::InvalidatingWrites;

const WRITES: [&str; 3] = ["INSERT INTO ", "UPDATE ", "DELETE FROM "];

thread_local! {
    static WRITTEN: RefCell<Vec<(&'static str, String)>> = RefCell::default();
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
    WRITTEN.with_borrow_mut(|written| written.extend(writes(statement)));
}

/// Forgets what an earlier step on this thread wrote.
pub(super) fn forget() {
    WRITTEN.take();
}

/// A table that was written to without invalidating its topic.
pub(super) fn forgotten(invalidations: &Invalidations, invalidating: &'static [InvalidatingWrites]) -> Option<String> {
    let missing = |(verb, table): (&'static str, String)| {
        let rows = invalidating.iter().filter(|row| row.table == table && row.verbs.contains(&verb));
        let topic = rows.flat_map(|row| row.topics).find(|topic| !invalidations.tells_of(**topic))?;
        Some(format!("{verb}{table}: {topic:?}"))
    };
    WRITTEN.take().into_iter().find_map(missing)
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
