//! Keys and references of tenant tables that do not contain the project. A database that distributes rows by project
//! needs it in all of them.

use std::collections::BTreeSet;

use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Abort, database_tests};
use kontor_kernel::StoreError;

/// Known exceptions by kind, table, columns, target and reason. The list may only become shorter: a new table has the
/// project in its keys and references.
const EXCEPTIONS: &str = include_str!("without_project.tsv");
const TENANT: &str = "project_id";

/// Place of a table, of a unique key (without a target), or of a reference.
#[derive(diesel::QueryableByName)]
struct Place {
    #[diesel(sql_type = diesel::sql_types::Text)]
    owner: String,
    /// In order. Empty for a table without a primary key.
    #[diesel(sql_type = diesel::sql_types::Text)]
    columns: String,
    #[diesel(sql_type = diesel::sql_types::Text)]
    target: String,
}

impl Place {
    fn has_tenant(&self) -> bool {
        self.columns.split(", ").any(|column| column == TENANT)
    }
}

const SQLITE_TABLES: &str = "SELECT m.name AS owner, p.name AS columns, '' AS target FROM sqlite_master m \
    JOIN pragma_table_info(m.name) p WHERE m.type = 'table'";
const POSTGRES_TABLES: &str = "SELECT table_name::text AS owner, column_name::text AS columns, '' AS target \
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

const SQLITE_REFERENCES: &str = "SELECT m.name AS owner, group_concat(f.\"from\", ', ') AS columns, \
    f.\"table\" AS target FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' \
    GROUP BY m.name, f.id, f.\"table\"";
const POSTGRES_REFERENCES: &str = "SELECT t.relname::text AS owner, \
    (SELECT string_agg(a.attname::text, ', ' ORDER BY c.place) \
     FROM unnest(k.conkey) WITH ORDINALITY AS c(number, place) \
     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.number) AS columns, r.relname::text AS target \
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
        assert!(reason.len() > 10, "{line}: no reason");
        exception.to_owned()
    });
    lines.collect()
}

database_tests! {
    async fn no_new_key_or_reference_lacks_the_project(db: TestDatabase) {
        let tables = select(&db, SQLITE_TABLES, POSTGRES_TABLES).await;
        let tenants: BTreeSet<String> =
            tables.into_iter().filter(Place::has_tenant).map(|table| table.owner).collect();
        assert!(tenants.len() > 50 && tenants.contains("orders"), "{tenants:?}");
        let keys = select(&db, SQLITE_KEYS, POSTGRES_KEYS).await;
        let references = select(&db, SQLITE_REFERENCES, POSTGRES_REFERENCES).await;

        let of_tenants = |columns: &&Place| tenants.contains(&columns.owner) && !columns.has_tenant();
        let keys: BTreeSet<String> = keys
            .iter()
            .filter(of_tenants)
            .filter(|key| !key.columns.is_empty())
            .map(|Place { owner, columns, .. }| format!("key\t{owner}\t{columns}\t"))
            .collect();
        let between: BTreeSet<String> = references
            .iter()
            .filter(of_tenants)
            .filter(|reference| tenants.contains(&reference.target))
            .map(|Place { owner, columns, target }| format!("reference\t{owner}\t{columns}\t{target}"))
            .collect();
        let without: BTreeSet<String> =
            belonging(&tenants, &references).into_iter().map(|table| format!("table\t{table}\t\t")).collect();
        let counts = format!(
            "{} tenant tables; {} keys and {} references without `project_id`; {} more tables without the column",
            tenants.len(), keys.len(), between.len(), without.len()
        );
        println!("{counts}");
        let found: BTreeSet<String> = keys.into_iter().chain(between).chain(without).collect();
        let known = exceptions();
        let new: Vec<_> = found.difference(&known).collect();
        assert!(new.is_empty(), "these lack `project_id`: {new:#?}");
        let gone: Vec<_> = known.difference(&found).collect();
        assert!(gone.is_empty(), "remove these from without_project.tsv: {gone:#?}");
        let page = include_str!("../../../../docs/operations/postgresql.md");
        assert!(page.contains(&counts), "docs/operations/postgresql.md does not say: {counts}");
    }
}
