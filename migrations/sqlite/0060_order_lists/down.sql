DROP INDEX orders_by_price;
DROP INDEX orders_by_customer;
CREATE INDEX orders_by_customer ON orders (counterparty_id, application_id, id);
DROP INDEX orders_waiting;
