-- A deleted agent is hidden; histories go on naming it.
ALTER TABLE users ADD COLUMN deleted_at TIMESTAMP;
CREATE INDEX users_by_kind ON users (project_id, kind, id);

-- A program without credentials asks for access. It belongs to no project until an employee deals with it.
CREATE TABLE agent_access_requests (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL UNIQUE,
    secret_fingerprint TEXT NOT NULL,
    project_id BIGINT REFERENCES projects (id),
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    -- JSON lists of permission names: what was asked for, and what is left of it after the reviews.
    requested TEXT NOT NULL,
    permissions TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'declined', 'consumed')),
    reviewer_id BIGINT REFERENCES users (id),
    agent_id BIGINT REFERENCES users (id),
    decline_reason TEXT,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    decided_at TIMESTAMP,
    consumed_at TIMESTAMP,
    CHECK ((status IN ('approved', 'consumed')) = (agent_id IS NOT NULL)),
    CHECK (status = 'pending' OR project_id IS NOT NULL)
);
CREATE INDEX agent_access_requests_by_expiry ON agent_access_requests (expires_at);
