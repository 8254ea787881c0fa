-- Version of a promotion, for preconditions.
ALTER TABLE promotions ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
