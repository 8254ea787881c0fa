ALTER TABLE payment_types DROP COLUMN is_online;
