ALTER TABLE payment_types ADD COLUMN is_online BOOLEAN NOT NULL DEFAULT FALSE;

-- The name that every project begins with.
UPDATE payment_types SET is_online = TRUE WHERE name = 'Online';
