-- One attempt to log in by calling a number. It is 'preparing' until the provider has taken it on, 'failed' when it did
-- not, 'over' when the provider gave up, 'exchanged' when it became a token. Its secrets are stored as keyed fingerprints;
-- a nonce stays used as long as its attempt is kept.
CREATE TABLE callback_attempts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
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
    UNIQUE (project_id, application_id, session_fingerprint)
);
CREATE INDEX callback_attempts_by_check ON callback_attempts (check_id);
CREATE INDEX callback_attempts_by_phone ON callback_attempts (project_id, phone);
CREATE INDEX callback_attempts_by_expiry ON callback_attempts (expires_at);

-- Which attempt holds a phone. The key is what makes one of several racing attempts win.
CREATE TABLE callback_phones (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    phone TEXT NOT NULL,
    attempt_id BIGINT NOT NULL UNIQUE REFERENCES callback_attempts (id) ON DELETE CASCADE,
    held_until TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, phone)
);
