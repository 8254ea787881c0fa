//! Migrations are compatible with the previous version: nothing that it uses is removed or narrowed.
//!
//! A migration may add tables, indexes, functions, nullable columns, columns with a default, and rows. Other changes
//! belong in a migration that starts with `-- contract: ` and the release that stopped using the removed parts.

use std::collections::BTreeSet;
use std::path::Path;

/// Last migration of the baseline, which every binary knows.
const BASELINE_END: &str = "2011_agents";

const CONTRACT: &str = "-- contract: ";

/// Objects created by a migration so far.
#[derive(Default)]
struct Made {
    tables: BTreeSet<String>,
    columns: BTreeSet<String>,
}

/// Statements in lower case, without comments, with single spaces.
fn statements(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split("--").next().unwrap());
    let text = lines.collect::<Vec<_>>().join(" ").to_lowercase();
    text.split(';')
        .map(|statement| statement.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|statement| !statement.is_empty())
        .collect()
}

/// Splits at commas outside of parentheses.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(letter);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

fn word(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

fn after<'a>(text: &'a str, beginning: &str) -> Option<&'a str> {
    text.strip_prefix(beginning).map(|rest| rest.strip_prefix("if not exists ").unwrap_or(rest))
}

/// Returns the fault of a statement, if any.
fn judge(statement: &str, made: &mut Made) -> Result<(), &'static str> {
    for beginning in ["create table ", "create virtual table "] {
        if let Some(rest) = after(statement, beginning) {
            made.tables.insert(word(rest));
            return Ok(());
        }
    }
    let harmless = ["create index ", "create extension ", "create function ", "insert into "];
    if harmless.iter().any(|beginning| statement.starts_with(beginning)) {
        return Ok(());
    }
    if let Some(rest) = after(statement, "create unique index ") {
        let (_, on) = rest.split_once(" on ").unwrap();
        let columns = on.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let is_new = made.tables.contains(&word(on)) || columns.skip(1).any(|column| made.columns.contains(column));
        return if is_new { Ok(()) } else { Err("a key on what is there refuses what was written so far") };
    }
    if let Some(rest) = statement.strip_prefix("alter table ") {
        let (table, changes) = rest.split_once(' ').unwrap();
        if made.tables.contains(table) {
            return Ok(());
        }
        for change in parts(changes) {
            let Some(column) = after(&change, "add column ") else {
                return Err("a table that is there only gets columns");
            };
            let must_be_given = column.contains(" not null") && !column.contains(" default ");
            if must_be_given || column.contains(" unique") || column.contains(" primary key") {
                return Err("a new column may be empty or has a default");
            }
            made.columns.insert(word(column));
        }
        return Ok(());
    }
    if let Some(rest) = statement.strip_prefix("update ") {
        let set = rest.split_once(" set ").unwrap().1.split(" where ").next().unwrap();
        let is_new = |part: String| made.columns.contains(&word(&part));
        let all_new = made.tables.contains(&word(rest)) || parts(set).into_iter().all(is_new);
        return if all_new { Ok(()) } else { Err("only new columns are filled") };
    }
    Err("it takes away or narrows, or is not known here")
}

/// Returns the faults of a migration.
fn faults(text: &str) -> Vec<String> {
    if let Some(rest) = text.strip_prefix(CONTRACT) {
        let release = rest.lines().next().unwrap_or_default().trim();
        return if release.is_empty() { vec!["which release stopped using it?".to_owned()] } else { Vec::new() };
    }
    let mut made = Made::default();
    let judged = statements(text).into_iter().filter_map(|statement| {
        let fault = judge(&statement, &mut made).err()?;
        Some(format!("{fault}: {statement}"))
    });
    judged.collect()
}

#[test]
fn migrations_keep_what_older_binaries_use() {
    for tree in ["sqlite", "postgres"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(tree);
        let mut names: Vec<String> =
            folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert!(names.iter().any(|name| name == BASELINE_END), "{tree}: {BASELINE_END} is gone");
        for name in names.iter().filter(|name| name.as_str() > BASELINE_END) {
            let text = std::fs::read_to_string(folder.join(name).join("up.sql")).unwrap();
            assert_eq!(faults(&text), Vec::<String>::new(), "migrations/{tree}/{name}; see docs/operations/upgrade.md");
        }
    }
}

#[test]
fn both_trees_contract_in_the_same_migrations() {
    let contracts = |tree: &str| -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(tree);
        let folders = folder.read_dir().unwrap().map(|entry| entry.unwrap());
        folders
            .filter(|entry| std::fs::read_to_string(entry.path().join("up.sql")).unwrap().starts_with(CONTRACT))
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    };
    assert_eq!(contracts("sqlite"), contracts("postgres"));
}

#[test]
fn additions_pass() {
    for text in [
        "-- A table; with its key.\nCREATE TABLE a (id BIGINT NOT NULL);\nCREATE UNIQUE INDEX a_by_id ON a (id);\nALTER TABLE a DROP COLUMN b;",
        "ALTER TABLE orders ADD COLUMN note TEXT;\nUPDATE orders SET note = name WHERE id > 1;\nCREATE UNIQUE INDEX o ON orders (project_id, note);",
        "ALTER TABLE orders ADD COLUMN a BIGINT NOT NULL DEFAULT 1, ADD COLUMN b TEXT CHECK (b IN ('x', 'y'));",
        "CREATE INDEX orders_by_name ON orders (name);\nINSERT INTO permissions (id) VALUES (1);",
        "-- contract: 0.2.0\nDROP TABLE orders;",
    ] {
        assert_eq!(faults(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn destructive_migrations_are_reported() {
    for text in [
        "DROP TABLE orders;",
        "DROP INDEX orders_by_name;",
        "DELETE FROM orders;",
        "ALTER TABLE orders DROP COLUMN note;",
        "ALTER TABLE orders RENAME TO bills;",
        "ALTER TABLE orders RENAME COLUMN a TO b;",
        "ALTER TABLE orders ALTER COLUMN a SET NOT NULL;",
        "ALTER TABLE orders ADD CONSTRAINT a CHECK (b > 0);",
        "ALTER TABLE orders ADD COLUMN a BIGINT NOT NULL;",
        "ALTER TABLE orders ADD COLUMN a BIGINT, DROP COLUMN b;",
        "ALTER TABLE orders ADD COLUMN a BIGINT UNIQUE;",
        "CREATE UNIQUE INDEX orders_by_name ON orders (name);",
        "ALTER TABLE orders ADD COLUMN note TEXT; UPDATE orders SET note = 'a', name = 'b';",
        "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END;",
        "-- contract: \nDROP TABLE orders;",
    ] {
        assert!(!faults(text).is_empty(), "{text}");
    }
}
