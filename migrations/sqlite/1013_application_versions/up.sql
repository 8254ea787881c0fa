-- Version of an application for `If-Match`, and the time when its App Token was replaced. NULL means never.
ALTER TABLE applications ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE applications ADD COLUMN token_issued_at TIMESTAMP;
