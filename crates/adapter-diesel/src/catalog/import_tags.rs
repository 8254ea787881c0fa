//! Tags of items in bulk.

use std::collections::BTreeMap;

use diesel::sql_types::{BigInt, Text};
use kontor_catalog::model::{Card, Tag};
use kontor_catalog::spreadsheet::{CardDraft, ImportError, ReferenceLookup, ResolvedCard};
use kontor_kernel::{Name, Stamp};

use crate::database::{Abort, AnyConnection};
use crate::decode::reference;
use crate::histories;
use crate::statement::{Statement, by_place};

/// Rows per statement.
const ROWS: usize = 2_000;

by_place! {
    struct TagRow {
        id: i64 as BigInt,
        name: String as Text,
    }
}

/// Creates the missing tags of the drafts, with their history entries. The caller has locked the project, so no other
/// transaction creates tags in it.
pub(super) fn complete(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    drafts: &[CardDraft],
    words: &mut ReferenceLookup,
) -> Result<(), Abort<ImportError>> {
    let mut missing: BTreeMap<String, Name> = BTreeMap::new();
    let known: &ReferenceLookup = words;
    for name in drafts.iter().flat_map(|draft| draft.missing_tags(known)) {
        missing.entry(name.key()).or_insert_with(|| name.clone());
    }
    let missing: Vec<Name> = missing.into_values().collect();
    for names in missing.chunks(ROWS) {
        let (project, moment) = (stamp.project_id, stamp.at.naive_utc());
        let values = names.iter().map(|name| [project.get().into(), name.as_str().into(), moment.into()]);
        let statement = Statement::new("INSERT INTO tags (project_id, name, created_at) VALUES ");
        let rows: Vec<TagRow> = statement.tuples(values).once().sql(" RETURNING id, name").rows(connection)?;
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        histories::created_many::<Tag, _>(connection, stamp, "tags", &ids)?;
        for row in rows {
            words.add_tag(reference(row.id, &row.name)?);
        }
    }
    Ok(())
}

/// Stores the tags of new items and replaces those of changed items.
pub(super) fn store_tags<'a>(
    connection: &mut AnyConnection,
    new: impl Iterator<Item = (i64, &'a Card)>,
    known: &[(i64, &'a ResolvedCard)],
) -> Result<(), Abort<ImportError>> {
    let known: Vec<(i64, &Card)> =
        known.iter().filter(|(_, resolved)| resolved.new_tags).map(|(id, resolved)| (*id, &resolved.card)).collect();
    for cards in known.chunks(ROWS) {
        let ids: Vec<i64> = cards.iter().map(|(id, _)| *id).collect();
        Statement::new("DELETE FROM nomenclature_tags WHERE nomenclature_id").among(&ids).run(connection)?;
    }
    let rows: Vec<(i64, i64)> =
        new.chain(known).flat_map(|(id, card)| card.tags.iter().map(move |tag| (id, tag.get()))).collect();
    for chunk in rows.chunks(ROWS) {
        let values = chunk.iter().map(|(id, tag)| [(*id).into(), (*tag).into()]);
        let statement = Statement::new("INSERT INTO nomenclature_tags (nomenclature_id, tag_id) VALUES ");
        statement.tuples(values).once().run(connection)?;
    }
    Ok(())
}
