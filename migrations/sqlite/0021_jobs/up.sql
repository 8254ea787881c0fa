-- Imports that run in the background. `checkpoint` is the row of the file up to which the pass is done: it moves in the
-- commit that writes the rows.
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
    user_id BIGINT REFERENCES users (id),
    tries INTEGER NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    started_at TIMESTAMP,
    finished_at TIMESTAMP
);
-- Of a project one job runs at a time.
CREATE UNIQUE INDEX jobs_running ON jobs (project_id) WHERE state = 'running';
CREATE INDEX jobs_queued ON jobs (project_id, id) WHERE state = 'queued';
CREATE INDEX jobs_by_project ON jobs (project_id, id);
CREATE INDEX jobs_with_file ON jobs (id) WHERE file_place IS NOT NULL;
CREATE INDEX jobs_by_end ON jobs (finished_at);

CREATE TABLE job_errors (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    job_id BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    row_number BIGINT NOT NULL,
    column_name TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX job_errors_by_job ON job_errors (job_id, id);
