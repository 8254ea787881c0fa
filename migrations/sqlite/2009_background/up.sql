-- Webhooks, imports, exports, and the state of the service itself.

-- Events for webhooks, written in the transaction of the change.
CREATE TABLE outbox_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    topic TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    dispatched_at TIMESTAMP,
    UNIQUE (project_id, id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);
CREATE INDEX outbox_events_waiting ON outbox_events (id) WHERE dispatched_at IS NULL;
CREATE INDEX outbox_events_dispatched ON outbox_events (dispatched_at) WHERE dispatched_at IS NOT NULL;

CREATE TABLE webhooks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    name TEXT,
    url TEXT NOT NULL,
    sealed_secret TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- An endpoint that times out is paused, each time for longer.
    hangs INTEGER NOT NULL DEFAULT 0,
    paused_until TIMESTAMP,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);
CREATE INDEX webhooks_by_application ON webhooks (application_id, project_id, id);
-- All endpoints of a project are locked together when their deliveries are leased.
CREATE UNIQUE INDEX webhooks_by_project ON webhooks (project_id, id);

-- `lapses` counts leases that expired in a row: such rows wait longer, then they are parked.
CREATE TABLE webhook_deliveries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    delivery_id TEXT NOT NULL UNIQUE,
    project_id BIGINT NOT NULL,
    webhook_id BIGINT NOT NULL,
    outbox_event_id BIGINT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    next_attempt_at TIMESTAMP,
    leased_until TIMESTAMP,
    lease_owner TEXT,
    response_status INTEGER,
    last_error TEXT,
    delivered_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- A row that cannot be processed is parked until an operator releases it.
    parked_at TIMESTAMP,
    parked_reason TEXT,
    lapses BIGINT NOT NULL DEFAULT 0,
    UNIQUE (webhook_id, outbox_event_id, project_id),
    FOREIGN KEY (project_id, webhook_id) REFERENCES webhooks (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, outbox_event_id) REFERENCES outbox_events (project_id, id)
);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (updated_at) WHERE status <> 'pending';
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (outbox_event_id, project_id);
CREATE INDEX webhook_deliveries_parked ON webhook_deliveries (parked_at) WHERE parked_at IS NOT NULL;
-- Due deliveries of one endpoint are one index range: a slow endpoint does not delay others.
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at, id)
    WHERE status = 'pending' AND parked_at IS NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (leased_until) WHERE leased_until IS NOT NULL;
-- The deliveries of all webhooks of a project, and those in one state, in the order of their numbers.
CREATE INDEX webhook_deliveries_by_project ON webhook_deliveries (project_id, id);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (project_id, status, id);

-- Imports. `checkpoint` is the last row of the file that is done; it is updated in the transaction that writes the rows.
CREATE TABLE jobs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind IN ('nomenclatures_import', 'inventories_upload')),
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
    phase TEXT NOT NULL CHECK (phase IN ('checking', 'writing')),
    dry_run BOOLEAN NOT NULL,
    partial BOOLEAN NOT NULL,
    file_place TEXT,
    file_name TEXT,
    file_bytes BIGINT NOT NULL,
    total_rows BIGINT,
    done_rows BIGINT NOT NULL,
    checkpoint BIGINT NOT NULL,
    created_count BIGINT NOT NULL,
    updated_count BIGINT NOT NULL,
    unchanged_count BIGINT NOT NULL,
    skipped_count BIGINT NOT NULL,
    problems_count BIGINT NOT NULL,
    ignored_columns TEXT NOT NULL,
    failure TEXT,
    user_id BIGINT,
    -- Token of the agent that started it; NULL for employees and operators. The token may be deleted meanwhile.
    token_id BIGINT,
    tries INTEGER NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    started_at TIMESTAMP,
    finished_at TIMESTAMP,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    lapses BIGINT NOT NULL DEFAULT 0,
    -- Options of reading the file, as JSON, if not the defaults, and the layout of the rows.
    reading TEXT,
    layout TEXT,
    -- First rows as the first pass found them, at most 20, as JSON.
    preview TEXT,
    FOREIGN KEY (project_id, user_id) REFERENCES users (project_id, id)
);
-- One job per project runs at a time.
CREATE UNIQUE INDEX jobs_running ON jobs (project_id) WHERE state = 'running';
CREATE INDEX jobs_queued ON jobs (project_id, id) WHERE state = 'queued';
CREATE UNIQUE INDEX jobs_by_project ON jobs (project_id, id);
CREATE INDEX jobs_with_file ON jobs (id) WHERE file_place IS NOT NULL;
CREATE INDEX jobs_by_end ON jobs (finished_at);
CREATE INDEX jobs_parked ON jobs (parked_at) WHERE parked_at IS NOT NULL;

CREATE TABLE job_errors (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    job_id BIGINT NOT NULL,
    row_number BIGINT NOT NULL,
    column_name TEXT NOT NULL,
    reason TEXT NOT NULL,
    FOREIGN KEY (project_id, job_id) REFERENCES jobs (project_id, id) ON DELETE CASCADE
);
CREATE INDEX job_errors_by_job ON job_errors (job_id, id);

-- Column mapping of a project by the headers of files, as JSON, for each kind of import.
CREATE TABLE import_columns (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind IN ('nomenclatures_import', 'inventories_upload')),
    mapping TEXT NOT NULL,
    PRIMARY KEY (project_id, kind)
);

-- Exports. `id` comes from the sequence of `jobs`, so that an import and an export never share one.
CREATE TABLE exports (
    id INTEGER NOT NULL PRIMARY KEY,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind IN ('inventories_export', 'orders_export', 'counterparties_export')),
    format TEXT NOT NULL CHECK (format IN ('xlsx', 'csv')),
    created_from DATE,
    created_to DATE,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
    total_rows BIGINT,
    done_rows BIGINT NOT NULL,
    file_place TEXT,
    file_bytes BIGINT NOT NULL,
    file_expires_at TIMESTAMP,
    failure TEXT,
    user_id BIGINT,
    -- Token of the agent that started it; NULL for employees and operators. The token may be deleted meanwhile.
    token_id BIGINT,
    tries INTEGER NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    lapses BIGINT NOT NULL DEFAULT 0,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    created_at TIMESTAMP NOT NULL,
    started_at TIMESTAMP,
    finished_at TIMESTAMP,
    FOREIGN KEY (project_id, user_id) REFERENCES users (project_id, id)
);
-- One export per project runs at a time.
CREATE UNIQUE INDEX exports_running ON exports (project_id) WHERE state = 'running';
CREATE INDEX exports_queued ON exports (project_id, id) WHERE state = 'queued';
CREATE INDEX exports_by_project ON exports (project_id, id);
CREATE INDEX exports_with_file ON exports (file_expires_at) WHERE file_place IS NOT NULL;
CREATE INDEX exports_by_end ON exports (finished_at);
CREATE INDEX exports_parked ON exports (parked_at) WHERE parked_at IS NOT NULL;

-- Heartbeats of the workers, for readiness.
CREATE TABLE workers (
    name TEXT NOT NULL PRIMARY KEY,
    seen_at TIMESTAMP NOT NULL
);
CREATE INDEX workers_by_sight ON workers (seen_at);

-- One row. `generation` grows with every transaction that will charge a subscription, and is also stored outside: a lower number
-- means that the database was restored. `held_since` then stops charges until it has been compared with the acquirer.
CREATE TABLE installation (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    generation BIGINT NOT NULL,
    held_since TIMESTAMP
);
INSERT INTO installation (id, name, generation) VALUES (1,
    lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
    || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))),
    0);

-- Requests with an Idempotency-Key. The row is committed with the changes of its request. The number of a request is the primary
-- key of its idempotency key and of its response. Both are appended and expire in this order.
CREATE TABLE idempotency_keys (
    -- Time of the request in milliseconds, and 21 bits that distinguish requests of one moment.
    number INTEGER NOT NULL PRIMARY KEY,
    -- Caller, then a keyed hash of caller, method, path and key.
    id TEXT NOT NULL UNIQUE,
    -- Hash of the body.
    fingerprint TEXT NOT NULL,
    -- Record that was created or changed.
    resource TEXT,
    resource_id BIGINT,
    -- Process that handles the request. Others wait until the lease expires.
    lease_owner TEXT NOT NULL,
    leased_until TIMESTAMP NOT NULL
);

-- Responses to requests with a key, in the order of requests. They are apart from the keys, because keys are random: storing a
-- response would write a random page again.
CREATE TABLE idempotency_answers (
    -- Time of the request in milliseconds, and 21 bits that distinguish requests of one moment.
    number INTEGER NOT NULL PRIMARY KEY,
    -- Encrypted with a key derived from the key of the caller.
    answer BLOB NOT NULL
);

-- Cache versions by topic and share of the projects. A process with cached responses sees by them that another process wrote.
CREATE TABLE change_marks (
    topic INTEGER NOT NULL,
    stripe INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (topic, stripe, lane)
) WITHOUT ROWID;
INSERT INTO change_marks (topic, stripe, lane, version)
WITH RECURSIVE stripes (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM stripes WHERE number < 63)
SELECT topics.number, stripes.number, 0, 0
FROM (SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT 2) AS topics, stripes;
