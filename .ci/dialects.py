#!/usr/bin/env python3
"""Counts what engines with PostgreSQL's protocol refuse in the migrations and the statements of the storage adapter.

The counts of .ci/dialects.tsv may only fall: a higher one fails. `--lower` writes lower ones. `--tenant` prints the
keys, references, joins and writes without the project instead. The rules follow the engines' public documentation
(SOURCES); no engine is asked, so a count of 0 proves nothing about an engine.
"""

import collections
import glob
import os
import re
import sys

import tenant_writes

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
BASELINE = ".ci/dialects.tsv"
TENANT = tenant_writes.TENANT
SCHEMA = "crates/adapter-diesel/src/schema.rs"

# Titles of the pages, read in 2026-11.
SOURCES = {
    "dsql-unsupported": "Amazon Aurora DSQL: Unsupported PostgreSQL features in Aurora DSQL",
    "dsql-ddl": "Amazon Aurora DSQL: DDL and distributed transactions in Aurora DSQL",
    "dsql-index": "Amazon Aurora DSQL: Asynchronous indexes in Aurora DSQL",
    "dsql-sequence": "Amazon Aurora DSQL: CREATE SEQUENCE",
    "dsql-lint": "PyPI dsql-lint 0.2.22: rules add_column_constraint and storage parameters",
    "cockroach-limits": "CockroachDB: Known Limitations in CockroachDB v22.2, limitations on use of UDFs",
    "cockroach-compatibility": "CockroachDB: PostgreSQL Compatibility",
    "cockroach-statistics": "CockroachDB: CREATE STATISTICS",
    "cockroach-51992": "cockroachdb/cockroach issue 51992: Add Support For btree_gin Extension",
    "yugabyte": "YugabyteDB: PostgreSQL compatibility, unsupported PostgreSQL features",
    "citus-ddl": "Citus: Creating and Modifying Distributed Objects (DDL)",
    "citus-sql": "Citus: SQL Support and Workarounds",
}


def rust_texts(source):
    """Returns the string literals of a Rust source, outside comments."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|b?r(?P<hashes>#*)"(?P<raw>.*?)"(?P=hashes)|"(?P<text>(?:[^"\\]|\\.)*)"'
        r"|'(?:[^'\\]|\\.[^']*)'",
        re.DOTALL,
    )
    for found in token.finditer(source):
        if found["raw"] is not None:
            yield found["raw"]
        elif found["text"] is not None:
            yield re.sub(r"\\\n\s*", "", found["text"]).replace("\\n", "\n")


def without_comments(sql):
    return re.sub(r"--[^\n]*", "", sql)


def statements(sql):
    """Splits SQL at semicolons outside quotes and dollar quotes."""
    whole, start = without_comments(sql), 0
    token = re.compile(r"\$\$.*?\$\$|'(?:[^']|'')*'|;", re.DOTALL)
    for found in token.finditer(whole):
        if found[0] == ";":
            yield whole[start : found.start()].strip()
            start = found.end()
    assert not whole[start:].strip(), "the last statement has no semicolon"


def parts(text):
    """Splits at commas outside brackets and quotes."""
    depth, start, quoted = 0, 0, False
    for place, sign in enumerate(text):
        quoted ^= sign == "'"
        depth += 0 if quoted else (sign == "(") - (sign == ")")
        if sign == "," and depth == 0 and not quoted:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def columns(text):
    return tuple(part.split()[0] for part in parts(text))


class Table:
    """A table as the migrations leave it: its columns, its unique keys and its references."""

    def __init__(self, name):
        self.name, self.columns, self.keys, self.references = name, [], [], []

    def add(self, definition):
        words = definition.split()
        inside = r"\(([^()]*)\)"
        if found := re.match(rf"(?:CONSTRAINT \w+ )?(?:PRIMARY KEY|UNIQUE)\s*{inside}", definition):
            self.keys.append(columns(found[1]))
        elif found := re.match(rf"(?:CONSTRAINT \w+ )?FOREIGN KEY\s*{inside}\s*REFERENCES (\w+)", definition):
            self.references.append((columns(found[1]), found[2]))
        elif words[0] not in ("CHECK", "CONSTRAINT"):
            self.columns.append(words[0])
            if re.search(r"\b(PRIMARY KEY|UNIQUE)\b", definition):
                self.keys.append((words[0],))
            if found := re.search(r"\bREFERENCES (\w+)", definition):
                self.references.append(((words[0],), found[1]))


def schema(migrations):
    tables = {}
    for statement in (one for file in migrations for one in file):
        if found := re.match(r"CREATE TABLE (\w+) \((.*)\)(?: WITH \([^)]*\))?$", statement, re.DOTALL):
            table = tables[found[1]] = Table(found[1])
            for definition in parts(found[2]):
                table.add(definition)
        elif found := re.match(r"CREATE UNIQUE INDEX \w+ ON (\w+) \(([^)]*)\)", statement):
            tables[found[1]].keys.append(columns(found[2]))
        elif found := re.match(r"ALTER TABLE (\w+) ADD (?:COLUMN )?(.*)", statement, re.DOTALL):
            tables[found[1]].add(found[2])
        elif found := re.match(r"DROP TABLE (\w+)", statement):
            del tables[found[1]]
        else:
            unknown = re.match(r"(CREATE|ALTER|DROP) (?!INDEX|FUNCTION|STATISTICS)", statement)
            assert not unknown, f"not understood: {statement}"
    return tables


def keys_without_tenant(tables):
    tenants = (table for table in tables.values() if TENANT in table.columns)
    return {(table.name, key) for table in tenants for key in table.keys if TENANT not in key}


def joins_without_tenant(tables, texts, sources):
    """Joins of a table with the project by other columns alone, in SQL texts and in Diesel queries. A condition that
    continues in another text is judged by its first part."""
    of_tenants = {name for name, table in tables.items() if TENANT in table.columns}
    join = re.compile(r"\bJOIN (\w+)\b((?:(?!\bJOIN\b|\bWHERE\b|\bORDER\b|\bGROUP\b).)*)", re.DOTALL)
    diesel = re.compile(r"\b(\w+)::table\s*\.on\(((?:[^()]|\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\))*)\)")
    found = [place.groups() for text in texts for place in join.finditer(text)]
    found += [place.groups() for source in sources for place in diesel.finditer(source)]
    return [(table, condition) for table, condition in found if table in of_tenants and TENANT not in condition]


def references_without_tenant(tables):
    of_tenants = {name for name, table in tables.items() if TENANT in table.columns}
    return {
        (name, columns, target)
        for name in of_tenants
        for columns, target in tables[name].references
        if target in of_tenants and TENANT not in columns
    }


class Sources:
    """Migrations as lists of statements, and texts of the adapter that look like SQL."""

    def __init__(self):
        read = lambda path: open(path, encoding="utf-8").read()
        self.migrations = [list(statements(read(path))) for path in sorted(glob.glob("migrations/postgres/*/up.sql"))]
        paths = glob.glob("crates/adapter-diesel/src/**/*.rs", recursive=True)
        self.files = {path: read(path) for path in sorted(paths) if "/testing/" not in path}
        self.shipped = list(self.files.values())
        texts = (text for source in self.shipped for text in rust_texts(source))
        self.texts = [text for text in texts if re.search(r"\b[A-Z]{2,} ", text)]
        self.tables = schema(self.migrations)

    def of_migrations(self, pattern):
        return sum(len(re.findall(pattern, one, re.DOTALL)) for file in self.migrations for one in file)

    def of_texts(self, pattern):
        return sum(len(re.findall(pattern, text, re.DOTALL)) for text in self.texts)

    def joins(self):
        return joins_without_tenant(self.tables, self.texts, self.shipped)

    def writes(self):
        """Updates and deletes without the project."""
        of_tenants = {name for name, table in self.tables.items() if TENANT in table.columns}
        keys = re.findall(r"^    (\w+) \(([^)]*)\) \{", self.files[SCHEMA], re.MULTILINE)
        by_tenant = {name for name, columns in keys if TENANT in columns}
        return tenant_writes.find(of_tenants, by_tenant, self.files)

    def everywhere(self, pattern):
        return self.of_migrations(pattern) + self.of_texts(pattern)

    def further_ddl(self):
        """Each migration is one transaction."""
        is_ddl = re.compile(r"(CREATE|ALTER|DROP) ").match
        return sum(max(0, sum(1 for one in file if is_ddl(one)) - 1) for file in self.migrations)

    def mixed_migrations(self):
        is_ddl, is_dml = re.compile(r"(CREATE|ALTER|DROP) ").match, re.compile(r"(INSERT|UPDATE|DELETE) ").match
        return sum(1 for file in self.migrations if any(map(is_ddl, file)) and any(map(is_dml, file)))

    def functions_in_indexes(self):
        own = re.findall(r"CREATE FUNCTION (\w+)", "\n".join(one for file in self.migrations for one in file))
        return sum(self.everywhere(rf"CREATE (?:UNIQUE )?INDEX [^;]*\b{name}\(") for name in own)


# Engine, rule, kind, source, count. A rule refuses the statement, or lets it mean something else.
RULES = [
    ("dsql", "foreign-key", "refused", "dsql-unsupported", lambda s: s.of_migrations(r"\bREFERENCES\b")),
    ("dsql", "collate", "refused", "dsql-unsupported", lambda s: s.of_migrations(r"\bCOLLATE\b")),
    ("dsql", "extension", "refused", "dsql-unsupported", lambda s: s.everywhere(r"CREATE EXTENSION")),
    ("dsql", "savepoint", "refused", "dsql-unsupported", lambda s: s.of_texts(r"\bSAVEPOINT\b")),
    ("dsql", "truncate", "refused", "dsql-unsupported", lambda s: s.everywhere(r"\bTRUNCATE\b")),
    ("dsql", "sync-index", "refused", "dsql-index", lambda s: s.everywhere(r"CREATE (?:UNIQUE )?INDEX (?!ASYNC)")),
    ("dsql", "gin", "refused", "dsql-index", lambda s: s.everywhere(r"USING gin")),
    ("dsql", "identity-cache", "refused", "dsql-sequence", lambda s: s.of_migrations(r"AS IDENTITY(?! \([^)]*CACHE)")),
    ("dsql", "further-ddl", "refused", "dsql-ddl", Sources.further_ddl),
    ("dsql", "ddl-with-dml", "refused", "dsql-ddl", Sources.mixed_migrations),
    (
        "dsql",
        "add-column-constraint",
        "refused",
        "dsql-lint",
        lambda s: s.of_migrations(r"ADD COLUMN [^,;]*\b(?:NOT NULL|DEFAULT)\b"),
    ),
    ("dsql", "storage-parameter", "refused", "dsql-lint", lambda s: s.of_migrations(r"\) WITH \(")),
    ("cockroach", "btree-gin", "refused", "cockroach-51992", lambda s: s.everywhere(r"EXTENSION [^;]*btree_gin")),
    ("cockroach", "function-in-index", "refused", "cockroach-limits", Sources.functions_in_indexes),
    (
        "cockroach",
        "statistics-kinds",
        "refused",
        "cockroach-statistics",
        lambda s: s.of_migrations(r"CREATE STATISTICS \w+ \("),
    ),
    ("cockroach", "integer-division", "differs", "cockroach-compatibility", lambda s: s.of_texts(r"[\w)] / [\w(]")),
    ("yugabyte", "multicolumn-gin", "refused", "yugabyte", lambda s: s.everywhere(r"USING gin \([^()]*,")),
    ("citus", "key-without-tenant", "refused", "citus-ddl", lambda s: len(keys_without_tenant(s.tables))),
    ("citus", "reference-without-tenant", "refused", "citus-ddl", lambda s: len(references_without_tenant(s.tables))),
    ("citus", "join-without-tenant", "refused", "citus-sql", lambda s: len(s.joins())),
    ("citus", "write-without-tenant", "differs", "citus-sql", lambda s: len(s.writes())),
    ("citus", "recursive", "differs", "citus-sql", lambda s: s.of_texts(r"WITH RECURSIVE")),
    ("citus", "row-lock", "differs", "citus-sql", lambda s: s.of_texts(r"\bFOR (?:NO KEY |KEY )?(?:UPDATE|SHARE)\b")),
]


def baseline():
    if not os.path.exists(BASELINE):
        return {}
    with open(BASELINE, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {(engine, rule): int(count) for engine, rule, count, _, _ in rows}


def write(counts):
    with open(BASELINE, "w", encoding="utf-8") as file:
        file.write("# engine\trule\tcount\tkind\tsource\n")
        for engine, rule, kind, source, _ in RULES:
            file.write(f"{engine}\t{rule}\t{counts[engine, rule]}\t{kind}\t{SOURCES[source]}\n")


def tenant(sources):
    tables = sources.tables
    for name, key in sorted(keys_without_tenant(tables)):
        print(f"key {name} ({', '.join(key)})")
    for name, key, target in sorted(references_without_tenant(tables)):
        print(f"reference {name} ({', '.join(key)}) to {target}")
    for name, condition in sources.joins():
        print(f"join {name} {' '.join(condition.split())}")
    for path, line, name, start in sources.writes():
        print(f"write {name} {path}:{line} {start}")


def main():
    sources = Sources()
    if sys.argv[1:] == ["--tenant"]:
        return tenant(sources)
    known = baseline()
    counts = {(engine, rule): count(sources) for engine, rule, _, _, count in RULES}
    assert all(source in SOURCES for _, _, _, source, _ in RULES)
    higher = {key: count for key, count in counts.items() if count > known.get(key, 0)}
    lower = {key: count for key, count in counts.items() if count < known.get(key, 0)}
    if sys.argv[1:] == ["--lower"] and (not higher or not known):
        write(counts)
        return None
    totals = collections.Counter()
    for (engine, _), count in counts.items():
        totals[engine] += count
    print(", ".join(f"{engine} {count}" for engine, count in totals.items()), "obstacles")
    for (engine, rule), count in lower.items():
        print(f"{engine} {rule}: {count}, fewer than {known[engine, rule]}; run .ci/dialects.py --lower")
    for (engine, rule), count in higher.items():
        print(f"{engine} {rule}: {count}, more than {known.get((engine, rule), 0)}", file=sys.stderr)
    gone = known.keys() - counts.keys()
    if gone:
        print(f"rules in {BASELINE} that do not exist: {sorted(gone)}", file=sys.stderr)
    return 1 if higher or gone else 0


sys.exit(main())
