-- An order that staff make for the project has no application, and stock has two more reasons to move. Both loosen what a
-- table demands and leave its rows as they are, which SQLite lets be written into the schema itself.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'application_id BIGINT NOT NULL REFERENCES', 'application_id BIGINT REFERENCES')
WHERE type = 'table' AND name = 'orders';
UPDATE sqlite_schema SET sql = replace(sql, '''sale'', ''correction''', '''sale'', ''correction'', ''return'', ''write_off''')
WHERE type = 'table' AND name = 'stock_movements';
PRAGMA writable_schema = RESET;

-- What has arrived for an order, what of it has gone back, and what is on its way back.
ALTER TABLE orders ADD COLUMN captured BIGINT NOT NULL DEFAULT 0 CHECK (captured >= 0);
ALTER TABLE orders ADD COLUMN refunded BIGINT NOT NULL DEFAULT 0 CHECK (refunded >= 0);
ALTER TABLE orders ADD COLUMN refunding BIGINT NOT NULL DEFAULT 0
    CHECK (refunding >= 0 AND refunded + refunding <= captured);
UPDATE orders SET captured = final_price WHERE paid_at IS NOT NULL;

-- Pieces of a line that were taken back, and the money of the line that has gone back, is on its way or is asked for.
ALTER TABLE reservations ADD COLUMN refunded_quantity BIGINT NOT NULL DEFAULT 0
    CHECK (refunded_quantity >= 0 AND refunded_quantity <= quantity);
ALTER TABLE reservations ADD COLUMN refunded_amount BIGINT NOT NULL DEFAULT 0
    CHECK (refunded_amount >= 0 AND refunded_amount <= total);

-- What goes back of an order in one step. `refund_id` is the way of the money through the acquirer; what was paid by hand
-- has none.
CREATE TABLE order_refunds (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    order_id BIGINT NOT NULL REFERENCES orders (id),
    refund_id BIGINT UNIQUE REFERENCES refunds (id),
    state TEXT NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
    amount BIGINT NOT NULL CHECK (amount >= 0),
    reason TEXT NOT NULL,
    restock BOOLEAN NOT NULL,
    actor TEXT NOT NULL CHECK (actor IN ('customer', 'user', 'system')),
    actor_id BIGINT,
    created_at TIMESTAMP NOT NULL,
    settled_at TIMESTAMP
);
CREATE INDEX order_refunds_by_order ON order_refunds (order_id, id);

CREATE TABLE order_refund_lines (
    order_refund_id BIGINT NOT NULL REFERENCES order_refunds (id),
    reservation_id BIGINT NOT NULL REFERENCES reservations (id),
    quantity BIGINT NOT NULL CHECK (quantity >= 0),
    amount BIGINT NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (order_refund_id, reservation_id)
);
CREATE INDEX order_refund_lines_by_line ON order_refund_lines (reservation_id);
