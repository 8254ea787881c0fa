-- Exports that are made in the background. A table of their own: a binary of before would take them for imports. `id` is a number
-- that `jobs` has given out, so that no import has it.
CREATE TABLE exports (
    id BIGINT NOT NULL PRIMARY KEY,
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
    user_id BIGINT REFERENCES users (id),
    tries INTEGER NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    lapses BIGINT NOT NULL DEFAULT 0,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    created_at TIMESTAMP NOT NULL,
    started_at TIMESTAMP,
    finished_at TIMESTAMP
);
-- Of a project one export runs at a time.
CREATE UNIQUE INDEX exports_running ON exports (project_id) WHERE state = 'running';
CREATE INDEX exports_queued ON exports (project_id, id) WHERE state = 'queued';
CREATE INDEX exports_by_project ON exports (project_id, id);
CREATE INDEX exports_with_file ON exports (file_expires_at) WHERE file_place IS NOT NULL;
CREATE INDEX exports_by_end ON exports (finished_at);
CREATE INDEX exports_parked ON exports (parked_at) WHERE parked_at IS NOT NULL;
