-- Version of a payment type for `If-Match`.
ALTER TABLE payment_types ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
