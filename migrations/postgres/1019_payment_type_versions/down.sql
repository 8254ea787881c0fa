ALTER TABLE payment_types DROP COLUMN version;
