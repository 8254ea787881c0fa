DROP TABLE agent_access_requests;
DROP INDEX users_by_kind;
ALTER TABLE users DROP COLUMN deleted_at;
