-- The name of a customer outside the service: a random UUID (version 4). A column that is added cannot have a default
-- that is drawn anew for every row, so a trigger draws it.
ALTER TABLE counterparties ADD COLUMN handle TEXT NOT NULL DEFAULT '';
UPDATE counterparties
    SET handle = lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
        || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)));
CREATE UNIQUE INDEX counterparties_by_handle ON counterparties (handle);
CREATE TRIGGER counterparties_get_a_handle AFTER INSERT ON counterparties WHEN NEW.handle = '' BEGIN
    UPDATE counterparties
        SET handle = lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
            || substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
        WHERE id = NEW.id;
END;

-- Backends that may ask what a customer's token is worth, one per application and audience.
CREATE TABLE introspection_clients (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    client_id TEXT NOT NULL UNIQUE,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    application_id BIGINT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    audience TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    rotated_at TIMESTAMP,
    UNIQUE (application_id, audience)
);

-- Times a customer was there, one after another for each token. Microseconds, so that no part of a second is lost
-- between two signs of life. A session ends when its customer was last seen.
CREATE TABLE client_sessions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    application_id BIGINT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id) ON DELETE CASCADE,
    token_id BIGINT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'closed')),
    started_at TIMESTAMP NOT NULL,
    last_seen_at TIMESTAMP NOT NULL,
    duration_micros BIGINT NOT NULL CHECK (duration_micros >= 0),
    closed_at TIMESTAMP
);
CREATE UNIQUE INDEX client_sessions_active ON client_sessions (token_id) WHERE status = 'active';
CREATE INDEX client_sessions_by_counterparty ON client_sessions (counterparty_id, id);
CREATE INDEX client_sessions_by_start ON client_sessions (started_at);

-- What is swept away after its time.
CREATE INDEX outbox_events_dispatched ON outbox_events (dispatched_at) WHERE dispatched_at IS NOT NULL;
CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (updated_at) WHERE status <> 'pending';
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (outbox_event_id);
