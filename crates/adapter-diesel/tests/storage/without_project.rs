//! Every tenant table has the project in all its keys and references, so that no row refers to a record of another
//! project, and rows can be distributed by project.

use std::collections::BTreeSet;

use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Abort, database_tests};
use kontor_kernel::StoreError;

/// Exceptions by kind, table, columns, target and reason. A new table needs none.
const EXCEPTIONS: &str = include_str!("without_project.tsv");

const REASONS: [&str; 4] = [
    "found by this value before the project is known",
    "the acquirer has one account for all projects",
    "names the record outside the installation",
    "some rows belong to no project",
];
const TENANT: &str = "project_id";

/// Place of a table, of a unique key (without a target), or of a reference.
#[derive(diesel::QueryableByName)]
struct Place {
    #[diesel(sql_type = diesel::sql_types::Text)]
    owner: String,
    /// In order; of a reference, each with the column it refers to. Empty for a table without a primary key.
    #[diesel(sql_type = diesel::sql_types::Text)]
    columns: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    target: String,
}

impl Place {
    fn has_tenant(&self) -> bool {
        self.columns.split(", ").any(|column| column == TENANT || column == "project_id = project_id")
    }

    /// `true` for a column of the project that may be empty.
    fn is_optional_tenant(&self) -> bool {
        self.columns.strip_suffix(" NULL").is_some_and(|column| column == TENANT)
    }
}

const SQLITE_TABLES: &str = "SELECT m.name AS owner, p.name || iif(p.\"notnull\", '', ' NULL') AS columns, '' AS target \
    FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'";
const POSTGRES_TABLES: &str = "SELECT table_name::text AS owner, \
    column_name::text || CASE is_nullable WHEN 'YES' THEN ' NULL' ELSE '' END AS columns, '' AS target \
    FROM information_schema.columns WHERE table_schema = 'public'";

const SQLITE_KEYS: &str = "SELECT m.name AS owner, coalesce((SELECT group_concat(c.name, ', ') \
     FROM (SELECT name FROM pragma_table_info(m.name) WHERE pk > 0 ORDER BY pk) c), '') AS columns, '' AS target \
    FROM sqlite_master m WHERE m.type = 'table' \
    UNION SELECT m.name, (SELECT group_concat(coalesce(c.name, '(expression)'), ', ') \
     FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno) c), '' \
    FROM sqlite_master m JOIN pragma_index_list(m.name) i WHERE m.type = 'table' AND i.\"unique\" = 1";
const POSTGRES_KEYS: &str = "SELECT t.relname::text AS owner, \
    (SELECT string_agg(coalesce(a.attname::text, '(expression)'), ', ' ORDER BY c.place) \
     FROM unnest(i.indkey) WITH ORDINALITY AS c(number, place) \
     LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.number AND c.number > 0 \
     WHERE c.place <= i.indnkeyatts) AS columns, '' AS target \
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace \
    WHERE n.nspname = 'public' AND i.indisunique";

const SQLITE_REFERENCES: &str = "SELECT m.name AS owner, group_concat(f.\"from\" || ' = ' || f.\"to\", ', ') AS columns, \
    f.\"table\" AS target FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' \
    GROUP BY m.name, f.id, f.\"table\"";
const POSTGRES_REFERENCES: &str = "SELECT t.relname::text AS owner, \
    (SELECT string_agg(a.attname || ' = ' || b.attname, ', ' ORDER BY c.place) \
     FROM unnest(k.conkey, k.confkey) WITH ORDINALITY AS c(number, other, place) \
     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.number \
     JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = c.other) AS columns, r.relname::text AS target \
    FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid \
    JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = 'public' AND k.contype = 'f'";

async fn select(db: &TestDatabase, sqlite: &'static str, postgres: &'static str) -> Vec<Place> {
    let query = if db.kind == Kind::Sqlite { sqlite } else { postgres };
    let read = db
        .database
        .read(move |connection| diesel::sql_query(query).load::<Place>(connection).map_err(Abort::<StoreError>::Query));
    read.await.unwrap()
}

/// Returns all tables whose rows belong to a project because they refer, directly or not, to a table with the project.
fn belonging(tenants: &BTreeSet<String>, references: &[Place]) -> BTreeSet<String> {
    let mut found = tenants.clone();
    loop {
        let more: BTreeSet<String> = references
            .iter()
            .filter(|reference| found.contains(&reference.target) && !found.contains(&reference.owner))
            .map(|reference| reference.owner.clone())
            .collect();
        if more.is_empty() {
            return found.difference(tenants).cloned().collect();
        }
        found.extend(more);
    }
}

/// Returns the exceptions without their reasons.
fn exceptions() -> BTreeSet<String> {
    let lines = EXCEPTIONS.lines().map(|line| {
        let (exception, reason) = line.rsplit_once('\t').unwrap();
        assert!(REASONS.contains(&reason), "{line}: the reasons are {REASONS:?}");
        exception.to_owned()
    });
    lines.collect()
}

/// `true` for the row id of SQLite, which is a key by itself. Other databases have the project in it.
fn is_row_id(db: &TestDatabase, key: &str) -> bool {
    db.kind == Kind::Sqlite && key.starts_with("key\t") && key.ends_with("\tid\t")
}

database_tests! {
    async fn every_key_and_reference_has_the_project(db: TestDatabase) {
        let columns = select(&db, SQLITE_TABLES, POSTGRES_TABLES).await;
        let optional: BTreeSet<String> =
            columns.iter().filter(|column| column.is_optional_tenant()).map(|column| column.owner.clone()).collect();
        let always = columns.into_iter().filter(Place::has_tenant).map(|column| column.owner);
        let tenants: BTreeSet<String> = always.chain(optional.iter().cloned()).collect();
        assert!(tenants.len() > 50 && tenants.contains("orders"), "{tenants:?}");
        let keys = select(&db, SQLITE_KEYS, POSTGRES_KEYS).await;
        let references = select(&db, SQLITE_REFERENCES, POSTGRES_REFERENCES).await;

        let of_tenants = |columns: &&Place| tenants.contains(&columns.owner) && !columns.has_tenant();
        let keys = keys
            .iter()
            .filter(of_tenants)
            .filter(|key| !key.columns.is_empty())
            .map(|Place { owner, columns, .. }| format!("key\t{owner}\t{columns}\t"))
            .filter(|key| !is_row_id(&db, key));
        let between = references
            .iter()
            .filter(of_tenants)
            .filter(|reference| tenants.contains(&reference.target))
            .map(|Place { owner, columns, target }| format!("reference\t{owner}\t{columns}\t{target}"));
        let without = belonging(&tenants, &references).into_iter().chain(optional);
        let without = without.map(|table| format!("table\t{table}\t\t"));
        let found: BTreeSet<String> = keys.chain(between).chain(without).collect();

        let all = exceptions();
        let known: BTreeSet<String> = all.iter().filter(|key| !is_row_id(&db, key)).cloned().collect();
        let new: Vec<_> = found.difference(&known).collect();
        assert!(new.is_empty(), "these lack `project_id`: {new:#?}");
        let gone: Vec<_> = known.difference(&found).collect();
        assert!(gone.is_empty(), "remove these from without_project.tsv: {gone:#?}");

        let number = |kind: &str| all.iter().filter(|line| line.starts_with(kind)).count();
        let counts = format!(
            "{} tenant tables, {} where the project may be empty; {} keys and {} references without `project_id`",
            tenants.len(), number("table\t"), number("key\t"), number("reference\t")
        );
        let page = include_str!("../../../../docs/operations/postgresql.md");
        assert!(page.contains(&counts), "docs/operations/postgresql.md does not say: {counts}");
    }
}
