-- Bounds of what orders from the contact form reserve, and for how long, until an employee confirms them.
ALTER TABLE projects ADD COLUMN contact_max_pieces BIGINT NOT NULL DEFAULT 100;
ALTER TABLE projects ADD COLUMN contact_max_value BIGINT NOT NULL DEFAULT 10000000;
ALTER TABLE projects ADD COLUMN contact_hold_hours BIGINT NOT NULL DEFAULT 72;

-- Set while an order from the contact form is not confirmed: the moment at which it is canceled.
ALTER TABLE orders ADD COLUMN reserved_until TIMESTAMP;
CREATE INDEX orders_unconfirmed ON orders (reserved_until) WHERE reserved_until IS NOT NULL;
CREATE INDEX orders_unconfirmed_by_phone ON orders (project_id, phone) WHERE reserved_until IS NOT NULL;
