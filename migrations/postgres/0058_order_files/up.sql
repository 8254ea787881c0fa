-- The order that a file was added to.
ALTER TABLE files ADD COLUMN order_id BIGINT REFERENCES orders (id);
CREATE INDEX files_by_order ON files (order_id, id) WHERE order_id IS NOT NULL;

-- Orders are looked for by their promo code.
CREATE INDEX orders_by_promo_code ON orders (project_id, promo_code, id) WHERE promo_code IS NOT NULL;
