-- Whose a key is stands before its hash: one index serves the request and the caller who is forgotten. Every index is a page more
-- in the commit of every request with a key.
DROP INDEX idempotency_keys_by_owner;
ALTER TABLE idempotency_keys ALTER COLUMN id TYPE TEXT COLLATE "C";
UPDATE idempotency_keys SET id = owner || ':' || coalesce(CAST(owner_id AS TEXT), '') || ':' || id;
ALTER TABLE idempotency_keys DROP COLUMN owner_id;
ALTER TABLE idempotency_keys DROP COLUMN owner;
