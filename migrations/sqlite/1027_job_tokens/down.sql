ALTER TABLE exports DROP COLUMN token_id;
ALTER TABLE jobs DROP COLUMN token_id;
