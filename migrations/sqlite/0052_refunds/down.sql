DROP TABLE order_refund_lines;
DROP TABLE order_refunds;
ALTER TABLE reservations DROP COLUMN refunded_amount;
ALTER TABLE reservations DROP COLUMN refunded_quantity;
ALTER TABLE orders DROP COLUMN refunding;
ALTER TABLE orders DROP COLUMN refunded;
ALTER TABLE orders DROP COLUMN captured;
UPDATE stock_movements SET reason = 'correction' WHERE reason IN ('return', 'write_off');
UPDATE orders SET application_id = (SELECT min(a.id) FROM applications a WHERE a.project_id = orders.project_id)
WHERE application_id IS NULL;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'application_id BIGINT REFERENCES', 'application_id BIGINT NOT NULL REFERENCES')
WHERE type = 'table' AND name = 'orders';
UPDATE sqlite_schema SET sql = replace(sql, ', ''return'', ''write_off''', '')
WHERE type = 'table' AND name = 'stock_movements';
PRAGMA writable_schema = RESET;
