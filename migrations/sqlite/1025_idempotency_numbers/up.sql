-- contract: 0.1.0
-- The number of a request is the primary key of its idempotency key and of its response. Both are appended and expire in this
-- order.
-- Stored keys are dropped: a request of the last 48 hours that is repeated is executed again.
DROP TABLE idempotency_keys;
DELETE FROM idempotency_answers;
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
