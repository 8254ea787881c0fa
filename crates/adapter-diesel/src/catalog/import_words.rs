//! Records that spreadsheets refer to by name, and those that an import creates first. Also the tags of items in bulk.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{Brand, Card, Category, Tag};
use kontor_catalog::spreadsheet::{CardDraft, CategoryNode, ImportError, ReferenceLookup, ResolvedCard};
use kontor_kernel::{CategoryId, Name, ProjectId, Stamp};

use super::cards::{TYPES, VATS};
use super::categories::next_code;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, on_duplicate};
use crate::decode::{self, reference};
use crate::histories;
use crate::schema::{brands, categories, countries, dictionary_items, storage_units, tags};
use crate::statement::{Statement, Value, by_place};

/// Loads every record of the project that an item can refer to.
pub(super) fn load<R>(connection: &mut AnyConnection, project: ProjectId) -> Result<ReferenceLookup, Abort<R>> {
    let mut words = ReferenceLookup::default();
    let rows: Vec<(i64, Option<i64>, String)> = categories::table
        .filter(categories::project_id.eq(project.get()))
        .order(categories::id)
        .select((categories::id, categories::parent_id, categories::name))
        .load(connection)?;
    for (id, parent, name) in rows {
        let (id, parent, name) = (decode::id(id)?, decode::optional_id(parent)?, decode::text(&name)?);
        words.add_category(CategoryNode { id, parent, name });
    }
    let rows: Vec<(i64, String)> = brands::table
        .filter(brands::project_id.eq(project.get()))
        .order(brands::id)
        .select((brands::id, brands::name))
        .load(connection)?;
    for (id, name) in rows {
        words.add_brand(reference(id, &name)?);
    }
    let rows: Vec<(i64, String)> =
        countries::table.order(countries::id).select((countries::id, countries::name)).load(connection)?;
    for (id, name) in rows {
        words.add_country(reference(id, &name)?);
    }
    let rows: Vec<(i64, String, String)> = storage_units::table
        .order(storage_units::id)
        .select((storage_units::id, storage_units::name, storage_units::abbreviation))
        .load(connection)?;
    for (id, name, abbreviation) in rows {
        words.add_unit(reference(id, &name)?, &abbreviation);
    }
    let rows: Vec<(String, i64, String)> = dictionary_items::table
        .filter(dictionary_items::dictionary.eq_any([VATS, TYPES]))
        .order(dictionary_items::id)
        .select((dictionary_items::dictionary, dictionary_items::id, dictionary_items::name))
        .load(connection)?;
    for (dictionary, id, name) in rows {
        match dictionary.as_str() {
            VATS => words.add_vat(reference(id, &name)?),
            _ => words.add_type(reference(id, &name)?),
        }
    }
    let rows: Vec<(i64, String)> = tags::table
        .filter(tags::project_id.eq(project.get()))
        .order(tags::id)
        .select((tags::id, tags::name))
        .load(connection)?;
    for (id, name) in rows {
        words.add_tag(reference(id, &name)?);
    }
    Ok(words)
}

/// Creates the missing categories, brands and tags of the drafts, with their history entries.
pub(super) fn complete(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    drafts: &[CardDraft],
    words: &mut ReferenceLookup,
) -> Result<(), Abort<ImportError>> {
    let (project, at) = (stamp.project_id, stamp.at);
    let (mut new_categories, mut new_brands) = (Vec::new(), Vec::new());
    for draft in drafts {
        if let Some(path) = draft.missing_category(words).cloned() {
            let (mut parent, depth) = words.category(&path).err().unwrap_or_default();
            for name in path.names().iter().skip(depth) {
                let next = next_code(connection, project)?;
                let id = insert_category(connection, project, parent, name, next, at)?;
                words.add_category(CategoryNode { id, parent, name: name.clone() });
                new_categories.push(id.get());
                parent = Some(id);
            }
        }
        if let Some(name) = draft.missing_brand(words).cloned() {
            let brand = Statement::new(
                "INSERT INTO brands (project_id, name, name_key, sort_key, created_at, updated_at) VALUES ",
            )
            .tuple([
                project.get().into(),
                name.as_str().into(),
                name.key().into(),
                sort_key(&name).into(),
                at.naive_utc().into(),
                at.naive_utc().into(),
            ])
            .sql(" RETURNING id");
            let id: i64 = brand.scalar(connection).map_err(on_duplicate(ImportError::Stale))?;
            words.add_brand(reference(id, &name)?);
            new_brands.push(id);
        }
    }
    histories::created_many::<Category, _>(connection, stamp, "categories", &new_categories)?;
    histories::created_many::<Brand, _>(connection, stamp, "brands", &new_brands)?;
    complete_tags(connection, stamp, drafts, words)
}

fn insert_category(
    connection: &mut AnyConnection,
    project: ProjectId,
    parent: Option<CategoryId>,
    name: &Name,
    code: i64,
    at: DateTime<Utc>,
) -> Result<CategoryId, Abort<ImportError>> {
    let values: [Value; 8] = [
        project.get().into(),
        parent.map(CategoryId::get).into(),
        name.as_str().into(),
        name.key().into(),
        sort_key(name).into(),
        code.into(),
        at.naive_utc().into(),
        at.naive_utc().into(),
    ];
    let id: i64 = Statement::new(
        "INSERT INTO categories (project_id, parent_id, name, name_key, sort_key, code, created_at, updated_at) VALUES ",
    )
    .tuple(values)
    .sql(" RETURNING id")
    .scalar(connection)
    .map_err(on_duplicate(ImportError::Stale))?;
    Ok(decode::id(id)?)
}

/// Rows per statement.
const ROWS: usize = 2_000;

by_place! {
    struct TagRow {
        id: i64,
        name: String,
    }
}

/// Creates the missing tags of the drafts, with their history entries. The caller has locked the project, so no other
/// transaction creates tags in it.
fn complete_tags(
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
    project: ProjectId,
    new: impl Iterator<Item = (i64, &'a Card)>,
    known: &[(i64, &'a ResolvedCard)],
) -> Result<(), Abort<ImportError>> {
    let known: Vec<(i64, &Card)> =
        known.iter().filter(|(_, resolved)| resolved.new_tags).map(|(id, resolved)| (*id, &resolved.card)).collect();
    for cards in known.chunks(ROWS) {
        let ids: Vec<i64> = cards.iter().map(|(id, _)| *id).collect();
        let old = Statement::new("DELETE FROM nomenclature_tags WHERE project_id = ").value(project.get());
        old.sql(" AND nomenclature_id").among(&ids).run(connection)?;
    }
    let rows: Vec<(i64, i64)> =
        new.chain(known).flat_map(|(id, card)| card.tags.iter().map(move |tag| (id, tag.get()))).collect();
    for chunk in rows.chunks(ROWS) {
        let values = chunk.iter().map(|(id, tag)| [project.get().into(), (*id).into(), (*tag).into()]);
        let statement = Statement::new("INSERT INTO nomenclature_tags (project_id, nomenclature_id, tag_id) VALUES ");
        statement.tuples(values).once().run(connection)?;
    }
    Ok(())
}
