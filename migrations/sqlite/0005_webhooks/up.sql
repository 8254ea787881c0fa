-- What must reach the outside, written in the commit that made it true.
CREATE TABLE outbox_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    topic TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    dispatched_at TIMESTAMP
);
CREATE INDEX outbox_events_waiting ON outbox_events (id) WHERE dispatched_at IS NULL;

CREATE TABLE webhooks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    name TEXT,
    url TEXT NOT NULL,
    sealed_secret TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX webhooks_by_application ON webhooks (application_id, id);

CREATE TABLE webhook_deliveries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    delivery_id TEXT NOT NULL UNIQUE,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    webhook_id BIGINT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    outbox_event_id BIGINT NOT NULL REFERENCES outbox_events (id),
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
    UNIQUE (webhook_id, outbox_event_id)
);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';

-- Proof of life of the workers, for readiness.
CREATE TABLE workers (
    name TEXT NOT NULL PRIMARY KEY,
    seen_at TIMESTAMP NOT NULL
);
