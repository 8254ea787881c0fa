//! Sort keys of names, by the root collation of CLDR: scripts are sorted one after the other, `Ё` sorts beside `Е`, and
//! case and accents matter only between otherwise equal names. The databases compare the bytes of the keys, so both
//! sort alike.

use std::sync::LazyLock;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};

use crate::database::{Abort, AnyConnection, repeat_until_zero};
use crate::statement::{Statement, Value, by_place};

/// Maximum length of a key in bytes. Longer keys are cut, because an index entry is bounded. Names that are equal up to
/// there are sorted by number.
const MAX_KEY_BYTES: usize = 1_000;

#[expect(clippy::expect_used, reason = "the data of the root collation is compiled in")]
static ROOT: LazyLock<CollatorBorrowed<'static>> = LazyLock::new(|| {
    Collator::try_new(CollatorPreferences::default(), CollatorOptions::default()).expect("the root collation")
});

/// Returns the bytes by which a name is sorted. They are stored: if a newer library returns other bytes, a migration
/// must clear the column, and `kontor migrate` fills it in again.
pub(crate) fn sort_key(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(64);
    let Ok(()) = ROOT.write_sort_key_to(name, &mut key);
    key.truncate(MAX_KEY_BYTES);
    key
}

by_place! {
    struct NameRow {
        id: i64,
        project: i64,
        name: String,
    }
}

/// Fills in missing sort keys of names; those of items are filled in with their search texts. Each batch is one
/// transaction, unless a transaction is open; the next run continues with the rest.
pub(crate) fn fill_sort_keys<R>(connection: &mut AnyConnection) -> Result<(), Abort<R>> {
    for table in ["branches", "brands", "categories", "shops", "warehouses"] {
        fill(connection, table, "sort_key", |name| sort_key(name).into())?;
    }
    Ok(())
}

/// Fills in missing names of files in lower case, as [`fill_sort_keys`].
pub(crate) fn fill_file_names<R>(connection: &mut AnyConnection) -> Result<(), Abort<R>> {
    fill(connection, "files", "name_key", |name| name.to_lowercase().into())
}

fn fill<R>(
    connection: &mut AnyConnection,
    table: &'static str,
    column: &'static str,
    key: fn(&str) -> Value,
) -> Result<(), Abort<R>> {
    repeat_until_zero(connection, |connection| {
        let missing = format!("SELECT id, project_id, name FROM {table} WHERE {column} IS NULL ORDER BY id LIMIT 500");
        let rows: Vec<NameRow> = Statement::new(missing).rows(connection)?;
        if !rows.is_empty() {
            Statement::new(format!("UPDATE {table} SET {column} = v.column2 FROM (VALUES "))
                .tuples(rows.iter().map(|row| [row.id.into(), key(&row.name), row.project.into()]))
                .once()
                .sql(format!(") AS v WHERE {table}.id = v.column1 AND {table}.project_id = v.column3"))
                .run(connection)?;
        }
        Ok(rows.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_keys_are_still_made_alike() {
        // If this fails, stored keys are out of date: clear `sort_key` and `search_text` by a migration.
        let hex = |name: &str| sort_key(name).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        let names = ["Zorvek 601", "Ёлка", "ель", "Йод", "naïve ß", "椅子"];
        let keys = [
            "5d474d55333f041e1214010e01dc0d",
            "62286254060145960701db08",
            "622862e801070107",
            "624e8a1a010701e006",
            "452b3b5533044f4f01439643700501bfe0d3",
            "fa3878fa1cd601060106",
        ];
        assert_eq!(names.map(hex), keys);
    }

    #[test]
    fn a_key_fits_into_an_index() {
        assert_eq!(sort_key(&"\u{fdfa}".repeat(255)).len(), MAX_KEY_BYTES);
    }
}
