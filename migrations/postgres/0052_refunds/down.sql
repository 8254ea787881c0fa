DROP TABLE order_refund_lines;
DROP TABLE order_refunds;
ALTER TABLE reservations DROP COLUMN refunded_amount;
ALTER TABLE reservations DROP COLUMN refunded_quantity;
ALTER TABLE orders DROP COLUMN refunding;
ALTER TABLE orders DROP COLUMN refunded;
ALTER TABLE orders DROP COLUMN captured;
UPDATE stock_movements SET reason = 'correction' WHERE reason IN ('return', 'write_off');
ALTER TABLE stock_movements DROP CONSTRAINT stock_movements_reason_check;
ALTER TABLE stock_movements ADD CONSTRAINT stock_movements_reason_check CHECK (reason IN
    ('opening', 'creation', 'edit', 'upload', 'reservation', 'release', 'sale', 'correction'));
UPDATE orders SET application_id = (SELECT min(a.id) FROM applications a WHERE a.project_id = orders.project_id)
WHERE application_id IS NULL;
ALTER TABLE orders ALTER COLUMN application_id SET NOT NULL;
