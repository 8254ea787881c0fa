-- Keys are not split again: those of requests before this are free.
DELETE FROM idempotency_keys;
ALTER TABLE idempotency_keys ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE idempotency_keys ADD COLUMN owner_id BIGINT;
CREATE INDEX idempotency_keys_by_owner ON idempotency_keys (owner_id, owner);
