DROP TABLE idempotency_keys;
DELETE FROM idempotency_answers;
CREATE TABLE idempotency_keys (
    id TEXT NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    resource TEXT,
    resource_id BIGINT,
    lease_owner TEXT NOT NULL,
    leased_until TIMESTAMP NOT NULL,
    answer BLOB,
    expires_at TIMESTAMP NOT NULL,
    answer_number BIGINT
);
CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at);
