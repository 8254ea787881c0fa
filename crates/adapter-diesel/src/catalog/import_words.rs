//! Records that spreadsheets refer to by name, and those that an import creates first.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{Brand, Category};
use kontor_catalog::spreadsheet::{CardDraft, CategoryNode, ImportError, ReferenceLookup};
use kontor_kernel::{CategoryId, Name, ProjectId, Stamp};

use super::cards::{TYPES, VATS};
use super::categories::next_code;
use super::import_tags;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, on_duplicate};
use crate::decode::{self, reference};
use crate::histories;
use crate::schema::{brands, categories, countries, dictionary_items, storage_units, tags};
use crate::statement::{IdRow, Statement, Value};

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
            let row: IdRow = brand.row(connection).map_err(on_duplicate(ImportError::Stale))?;
            words.add_brand(reference(row.id, &name)?);
            new_brands.push(row.id);
        }
    }
    histories::created_many::<Category, _>(connection, stamp, "categories", &new_categories)?;
    histories::created_many::<Brand, _>(connection, stamp, "brands", &new_brands)?;
    import_tags::complete(connection, stamp, drafts, words)
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
    let row: IdRow = Statement::new(
        "INSERT INTO categories (project_id, parent_id, name, name_key, sort_key, code, created_at, updated_at) VALUES ",
    )
    .tuple(values)
    .sql(" RETURNING id")
    .row(connection)
    .map_err(on_duplicate(ImportError::Stale))?;
    Ok(decode::id(row.id)?)
}
