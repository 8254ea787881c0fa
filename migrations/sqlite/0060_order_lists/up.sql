-- Orders that wait for their payment.
CREATE INDEX orders_waiting ON orders (updated_at) WHERE status_id = 2;

-- The orders of a customer in the order in which staff and customers read them.
DROP INDEX orders_by_customer;
CREATE INDEX orders_by_customer ON orders (counterparty_id, project_id, id);

-- Orders of a sum.
CREATE INDEX orders_by_price ON orders (project_id, final_price, id);
