DROP INDEX orders_unconfirmed_by_phone;
DROP INDEX orders_unconfirmed;
ALTER TABLE orders DROP COLUMN reserved_until;
ALTER TABLE projects DROP COLUMN contact_hold_hours;
ALTER TABLE projects DROP COLUMN contact_max_value;
ALTER TABLE projects DROP COLUMN contact_max_pieces;
