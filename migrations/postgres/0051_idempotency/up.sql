-- Requests that were carried out under an Idempotency-Key. A row comes in the commit of what its request did.
CREATE TABLE idempotency_keys (
    -- A keyed hash of the caller, the method, the address and the key.
    id TEXT NOT NULL PRIMARY KEY,
    -- Of the body.
    fingerprint TEXT NOT NULL,
    -- Whose request it is: which kind of caller, and his number.
    owner TEXT NOT NULL,
    owner_id BIGINT,
    -- The record that was made or changed.
    resource TEXT,
    resource_id BIGINT,
    -- Who is working on it, and until when nobody else looks for the answer.
    lease_owner TEXT NOT NULL,
    leased_until TIMESTAMP NOT NULL,
    -- Sealed with a key that is made of the caller's; nothing while there is no answer.
    answer BYTEA,
    expires_at TIMESTAMP NOT NULL
);
CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_by_owner ON idempotency_keys (owner_id, owner);
