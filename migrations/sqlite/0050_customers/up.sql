-- What staff find and sort customers by: `search_text` is every word of names, contacts and numbers with a space before it,
-- `sort_key` the place of the name among others. Both are written with the record; rows without are filled in by
-- `kontor migrate`. Who has left has neither.
ALTER TABLE counterparties ADD COLUMN search_text TEXT;
ALTER TABLE counterparties ADD COLUMN sort_key BLOB;
CREATE INDEX counterparties_without_search ON counterparties (id) WHERE search_text IS NULL;

-- Lists of staff show who has not left.
CREATE INDEX counterparties_present ON counterparties (project_id, id) WHERE deleted_at IS NULL;
CREATE INDEX counterparties_by_kind ON counterparties (project_id, is_company, id) WHERE deleted_at IS NULL;
CREATE INDEX counterparties_by_manager ON counterparties (project_id, manager_id, id) WHERE deleted_at IS NULL;
CREATE INDEX counterparties_by_moment ON counterparties (project_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX counterparties_by_sort_key ON counterparties (project_id, sort_key, id) WHERE deleted_at IS NULL;

-- Three letters each of every word, as of items; `rowid` is the number of the customer.
CREATE VIRTUAL TABLE counterparty_search USING fts5 (
    grams, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_-'"
);

-- Other ways to reach a customer. They go when the customer leaves.
CREATE TABLE counterparty_contacts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    kind TEXT NOT NULL CHECK (kind IN ('phone', 'email', 'whatsapp', 'telegram', 'max', 'website', 'other')),
    value TEXT NOT NULL,
    name TEXT,
    comment TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX counterparty_contacts_by_customer ON counterparty_contacts (counterparty_id, id);

-- Accounts of a customer in banks. They go when the customer leaves.
CREATE TABLE counterparty_bank_requisites (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    bik TEXT NOT NULL,
    bank_name TEXT NOT NULL,
    correspondent_account TEXT,
    account TEXT NOT NULL,
    comment TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX counterparty_bank_requisites_by_customer ON counterparty_bank_requisites (counterparty_id, id);
