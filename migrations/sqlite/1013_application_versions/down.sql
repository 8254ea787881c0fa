ALTER TABLE applications DROP COLUMN token_issued_at;
ALTER TABLE applications DROP COLUMN version;
