-- What an entry of an order's history changed: a list of {field, old, new}.
ALTER TABLE order_events ADD COLUMN changes TEXT NOT NULL DEFAULT '[]';
