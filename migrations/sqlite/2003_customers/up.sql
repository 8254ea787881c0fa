-- Customers: records, login, sessions, and the history entries of all records.

-- Customers. A deleted customer keeps a row without personal data, because orders refer to it.
CREATE TABLE counterparties (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    is_company BOOLEAN NOT NULL,
    manager_id BIGINT,
    name TEXT,
    inn TEXT,
    kpp TEXT,
    first_name TEXT,
    last_name TEXT,
    middle_name TEXT,
    birthday DATE,
    address TEXT,
    phone_1 TEXT,
    phone_2 TEXT,
    email TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- Id of the customer outside the service.
    handle TEXT NOT NULL DEFAULT (
        lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    ),
    -- An unconfirmed address gets mail, but does not log in.
    email_confirmed BOOLEAN NOT NULL DEFAULT TRUE,
    -- Time of the bank payment that proved the identity.
    verified_at TIMESTAMP,
    deleted_at TIMESTAMP,
    avatar_id BIGINT,
    -- Every word of names, contacts and numbers, each after a space. A migration may set it to NULL: `kontor migrate` fills it in,
    -- together with `sort_key`.
    search_text TEXT,
    sort_key BLOB,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, manager_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, avatar_id) REFERENCES files (project_id, id)
);
CREATE UNIQUE INDEX counterparties_by_project ON counterparties (project_id, id);
CREATE INDEX counterparties_by_phone ON counterparties (project_id, phone_1);
CREATE INDEX counterparties_by_email ON counterparties (project_id, email);
CREATE UNIQUE INDEX counterparties_by_handle ON counterparties (handle);
CREATE INDEX counterparties_by_avatar ON counterparties (avatar_id) WHERE avatar_id IS NOT NULL;
CREATE INDEX counterparties_without_search ON counterparties (id) WHERE search_text IS NULL;
-- Lists of staff show customers that are not deleted.
CREATE INDEX counterparties_present ON counterparties (project_id, id) WHERE deleted_at IS NULL;
CREATE INDEX counterparties_by_kind ON counterparties (project_id, is_company, id) WHERE deleted_at IS NULL;
CREATE INDEX counterparties_by_manager ON counterparties (project_id, manager_id, id) WHERE deleted_at IS NULL;
CREATE INDEX counterparties_by_moment ON counterparties (project_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX counterparties_by_sort_key ON counterparties (project_id, sort_key, id) WHERE deleted_at IS NULL;
-- Clients that copy a list read it in the order of change.
CREATE INDEX counterparties_by_change ON counterparties (project_id, updated_at, id);

-- Three letters each of every word, as of items; `rowid` is the id of the customer.
CREATE VIRTUAL TABLE counterparty_search USING fts5 (
    grams, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_-'"
);

-- Additional contacts of a customer. They are removed when the customer is deleted.
CREATE TABLE counterparty_contacts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('phone', 'email', 'whatsapp', 'telegram', 'max', 'website', 'other')),
    value TEXT NOT NULL,
    name TEXT,
    comment TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id)
);
CREATE INDEX counterparty_contacts_by_customer ON counterparty_contacts (counterparty_id, id);

-- Bank accounts of a customer. They are removed when the customer is deleted.
CREATE TABLE counterparty_bank_requisites (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    bik TEXT NOT NULL,
    bank_name TEXT NOT NULL,
    correspondent_account TEXT,
    account TEXT NOT NULL,
    comment TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id)
);
CREATE INDEX counterparty_bank_requisites_by_customer ON counterparty_bank_requisites (counterparty_id, id);

-- Customer that a contact logs in. The key makes find-or-create safe for concurrent requests.
CREATE TABLE login_contacts (
    project_id BIGINT NOT NULL,
    contact TEXT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    PRIMARY KEY (project_id, contact),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id)
);
CREATE INDEX login_contacts_by_customer ON login_contacts (counterparty_id);

-- Login codes. A contact has one; a new code replaces it.
CREATE TABLE one_time_codes (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    contact TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    attempts_left INTEGER NOT NULL CHECK (attempts_left >= 0),
    expires_at TIMESTAMP NOT NULL,
    consumed_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, contact)
);
CREATE INDEX one_time_codes_by_expiry ON one_time_codes (expires_at);

-- Codes sent to the new phone of a customer. A new code replaces the earlier one.
CREATE TABLE phone_change_codes (
    counterparty_id BIGINT NOT NULL,
    project_id BIGINT NOT NULL,
    phone TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    attempts_left INTEGER NOT NULL CHECK (attempts_left >= 0),
    expires_at TIMESTAMP NOT NULL,
    consumed_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (counterparty_id, project_id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id)
);
CREATE INDEX phone_change_codes_by_expiry ON phone_change_codes (expires_at);

-- Logins by a call to a number. `preparing`: the provider has not accepted it yet; `failed`: the provider refused; `over`: the
-- provider gave up; `exchanged`: it became a token. Secrets are keyed fingerprints. A nonce stays used while its row exists.
CREATE TABLE callback_attempts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    phone TEXT NOT NULL,
    nonce_fingerprint TEXT NOT NULL,
    session_fingerprint TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('preparing', 'failed', 'pending', 'verified', 'over', 'exchanged')),
    check_id TEXT,
    status_asked_at TIMESTAMP,
    exchange_asked_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, application_id, nonce_fingerprint),
    UNIQUE (project_id, application_id, session_fingerprint),
    UNIQUE (project_id, id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);
CREATE INDEX callback_attempts_by_check ON callback_attempts (check_id);
CREATE INDEX callback_attempts_by_phone ON callback_attempts (project_id, phone);
CREATE INDEX callback_attempts_by_expiry ON callback_attempts (expires_at);

-- Attempt that currently holds a phone. The key lets one of several concurrent attempts win.
CREATE TABLE callback_phones (
    project_id BIGINT NOT NULL,
    phone TEXT NOT NULL,
    attempt_id BIGINT NOT NULL,
    held_until TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, phone),
    UNIQUE (attempt_id, project_id),
    FOREIGN KEY (project_id, attempt_id) REFERENCES callback_attempts (project_id, id) ON DELETE CASCADE
);

-- Sessions of customers, consecutive for each token. The duration is in microseconds, so that fractions of seconds add up. A
-- session ends at `last_seen_at`.
CREATE TABLE client_sessions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    token_id BIGINT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'closed')),
    started_at TIMESTAMP NOT NULL,
    last_seen_at TIMESTAMP NOT NULL,
    duration_micros BIGINT NOT NULL CHECK (duration_micros >= 0),
    closed_at TIMESTAMP,
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX client_sessions_active ON client_sessions (token_id, project_id) WHERE status = 'active';
CREATE INDEX client_sessions_by_counterparty ON client_sessions (counterparty_id, id);
CREATE INDEX client_sessions_by_start ON client_sessions (started_at);

-- History entries of records, written in the transactions of the changes. `changes` is a JSON list of `{field, old, new}`.
CREATE TABLE histories (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    resource TEXT NOT NULL,
    resource_id BIGINT NOT NULL,
    deed TEXT NOT NULL CHECK (deed IN ('created', 'changed', 'deleted')),
    user_id BIGINT,
    counterparty_id BIGINT,
    changes TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, user_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id),
    CHECK (user_id IS NULL OR counterparty_id IS NULL)
);
CREATE INDEX histories_by_record ON histories (project_id, resource, resource_id, id);
