ALTER TABLE applications DROP COLUMN activated_at;
