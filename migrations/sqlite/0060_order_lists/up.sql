-- Orders that wait for their payment.
CREATE INDEX orders_waiting ON orders (updated_at) WHERE status_id = 2;
