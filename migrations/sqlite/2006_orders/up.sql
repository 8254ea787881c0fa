-- Orders with their lines, history, refunds, tickets and notifications.

-- `captured` is the money received, `refunded` returned, `refunding` on its way back. An order by staff for the project has no
-- application.
CREATE TABLE orders (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT,
    counterparty_id BIGINT NOT NULL,
    manager_id BIGINT,
    status_id BIGINT NOT NULL,
    original_price BIGINT NOT NULL,
    product_discount BIGINT NOT NULL,
    promo_discount BIGINT NOT NULL,
    final_price BIGINT NOT NULL,
    discount_id BIGINT,
    promo_code TEXT,
    delivery_type_id BIGINT NOT NULL,
    delivery_subtype_id BIGINT,
    delivery_subtype_param_id BIGINT,
    shop_id BIGINT,
    address TEXT,
    phone TEXT,
    payment_type_id BIGINT,
    payment_method_type TEXT,
    payment_link TEXT,
    comment TEXT,
    paid_at TIMESTAMP,
    version BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    captured BIGINT NOT NULL DEFAULT 0 CHECK (captured >= 0),
    refunded BIGINT NOT NULL DEFAULT 0 CHECK (refunded >= 0),
    refunding BIGINT NOT NULL DEFAULT 0 CHECK (refunding >= 0 AND refunded + refunding <= captured),
    -- Subscription whose period the order pays.
    subscription_id BIGINT,
    -- Time of cancellation of an unconfirmed order from the contact form.
    reserved_until TIMESTAMP,
    -- Price of the delivery, in addition to the lines, and its VAT code.
    delivery_price BIGINT NOT NULL DEFAULT 0 CHECK (delivery_price >= 0),
    delivery_vat_code INTEGER CHECK (delivery_vat_code BETWEEN 1 AND 12),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id),
    FOREIGN KEY (project_id, manager_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, discount_id) REFERENCES discounts (project_id, id),
    FOREIGN KEY (project_id, delivery_subtype_param_id) REFERENCES delivery_subtype_params (project_id, id),
    FOREIGN KEY (project_id, shop_id) REFERENCES shops (project_id, id),
    FOREIGN KEY (project_id, payment_type_id) REFERENCES payment_types (project_id, id),
    CHECK (original_price - product_discount - promo_discount = final_price AND final_price >= 0
        AND product_discount >= 0 AND promo_discount >= 0)
);
CREATE UNIQUE INDEX orders_by_project ON orders (project_id, id);
CREATE INDEX orders_by_status ON orders (project_id, status_id, id);
CREATE INDEX orders_by_application ON orders (project_id, application_id, id);
CREATE INDEX orders_by_date ON orders (project_id, created_at);
CREATE INDEX orders_by_phone ON orders (project_id, phone);
CREATE INDEX orders_by_discount ON orders (discount_id) WHERE discount_id IS NOT NULL;
CREATE INDEX orders_by_promo_code ON orders (project_id, promo_code, id) WHERE promo_code IS NOT NULL;
-- Orders that wait for payment.
CREATE INDEX orders_waiting ON orders (updated_at) WHERE status_id = 2;
CREATE INDEX orders_by_customer ON orders (counterparty_id, project_id, id);
CREATE INDEX orders_by_price ON orders (project_id, final_price, id);
CREATE INDEX orders_unconfirmed ON orders (reserved_until) WHERE reserved_until IS NOT NULL;
CREATE INDEX orders_unconfirmed_by_phone ON orders (project_id, phone) WHERE reserved_until IS NOT NULL;
CREATE INDEX orders_by_change ON orders (project_id, updated_at, id);
-- Reports read this index alone.
CREATE INDEX orders_by_payment ON orders (project_id, paid_at, id, captured) WHERE paid_at IS NOT NULL;

-- Order lines and their reservations. `state` is `held` (stock reserved), `released` or `sold`.
CREATE TABLE reservations (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    order_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    inventory_id BIGINT,
    name TEXT NOT NULL,
    quantity BIGINT NOT NULL CHECK (quantity >= 1),
    unit_price BIGINT NOT NULL CHECK (unit_price >= 0),
    product_discount BIGINT NOT NULL CHECK (product_discount >= 0),
    promo_discount BIGINT NOT NULL CHECK (promo_discount >= 0),
    total BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('held', 'released', 'sold')),
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- Returned units, and money refunded or in refund.
    refunded_quantity BIGINT NOT NULL DEFAULT 0 CHECK (refunded_quantity >= 0 AND refunded_quantity <= quantity),
    refunded_amount BIGINT NOT NULL DEFAULT 0 CHECK (refunded_amount >= 0 AND refunded_amount <= total),
    -- VAT code of the acquirer. Without it the order has no receipt.
    vat_code INTEGER CHECK (vat_code BETWEEN 1 AND 12),
    -- Type of the item at the time of the order.
    is_ticket BOOLEAN NOT NULL DEFAULT FALSE,
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id),
    FOREIGN KEY (project_id, nomenclature_id) REFERENCES nomenclatures (project_id, id),
    FOREIGN KEY (project_id, inventory_id) REFERENCES inventories (project_id, id),
    CHECK (unit_price * quantity - product_discount - promo_discount = total AND total >= 0)
);
CREATE INDEX reservations_by_order ON reservations (order_id, project_id, id);
CREATE INDEX reservations_by_inventory ON reservations (inventory_id, project_id, state);
CREATE UNIQUE INDEX reservations_by_project ON reservations (project_id, id);

-- History of orders. `changes` is a JSON list of `{field, old, new}`.
CREATE TABLE order_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    order_id BIGINT NOT NULL,
    actor TEXT NOT NULL CHECK (actor IN ('customer', 'user', 'system')),
    actor_id BIGINT,
    event TEXT NOT NULL,
    status_id BIGINT NOT NULL,
    detail TEXT,
    created_at TIMESTAMP NOT NULL,
    changes TEXT NOT NULL DEFAULT '[]',
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id)
);
CREATE INDEX order_events_by_order ON order_events (order_id, id);

CREATE TABLE discount_usages (
    order_id BIGINT NOT NULL,
    project_id BIGINT NOT NULL,
    discount_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (order_id, project_id),
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id),
    FOREIGN KEY (project_id, discount_id) REFERENCES discounts (project_id, id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id)
);
CREATE INDEX discount_usages_by_customer ON discount_usages (discount_id, counterparty_id);
CREATE INDEX discount_usages_by_order ON discount_usages (discount_id, order_id);

-- Refunds of orders. `refund_id` is the refund by the acquirer; orders paid by hand have none.
CREATE TABLE order_refunds (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    order_id BIGINT NOT NULL,
    refund_id BIGINT,
    state TEXT NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
    amount BIGINT NOT NULL CHECK (amount >= 0),
    reason TEXT NOT NULL,
    restock BOOLEAN NOT NULL,
    actor TEXT NOT NULL CHECK (actor IN ('customer', 'user', 'system')),
    actor_id BIGINT,
    created_at TIMESTAMP NOT NULL,
    settled_at TIMESTAMP,
    UNIQUE (refund_id, project_id),
    UNIQUE (project_id, id),
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id),
    FOREIGN KEY (project_id, refund_id) REFERENCES refunds (project_id, id)
);
CREATE INDEX order_refunds_by_order ON order_refunds (order_id, project_id, state, amount);
CREATE INDEX order_refunds_by_settlement ON order_refunds (project_id, state, settled_at, amount);

CREATE TABLE order_refund_lines (
    project_id BIGINT NOT NULL,
    order_refund_id BIGINT NOT NULL,
    reservation_id BIGINT NOT NULL,
    quantity BIGINT NOT NULL CHECK (quantity >= 0),
    amount BIGINT NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (order_refund_id, reservation_id, project_id),
    FOREIGN KEY (project_id, order_refund_id) REFERENCES order_refunds (project_id, id),
    FOREIGN KEY (project_id, reservation_id) REFERENCES reservations (project_id, id)
);
CREATE INDEX order_refund_lines_by_line ON order_refund_lines (reservation_id);

-- Tickets of an order. `reference` is the random part of the token that is scanned, and is cleared when the customer is deleted.
-- `total` excludes returned tickets.
CREATE TABLE order_tickets (
    order_id BIGINT NOT NULL,
    project_id BIGINT NOT NULL,
    reference TEXT,
    total BIGINT NOT NULL CHECK (total >= 0),
    redeemed BIGINT NOT NULL DEFAULT 0 CHECK (redeemed >= 0 AND redeemed <= total),
    last_redeemed_at TIMESTAMP,
    PRIMARY KEY (order_id, project_id),
    UNIQUE (project_id, reference),
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id)
);

-- Ticket scans; rows never change. `is_dated`: the scanner sent the time. `redeemed_count` and `total_tickets` are those of the
-- order at that time; `earlier_...` is the previous admission. Scans that were not admitted are deleted after 180 days.
CREATE TABLE ticket_scans (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    order_id BIGINT,
    scan_id TEXT NOT NULL,
    token_fingerprint TEXT NOT NULL,
    quantity BIGINT NOT NULL CHECK (quantity > 0),
    shop_id BIGINT,
    is_dated BOOLEAN NOT NULL,
    scanned_at TIMESTAMP NOT NULL,
    user_id BIGINT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('admitted', 'unknown', 'canceled', 'unpaid', 'already_redeemed', 'too_many',
        'other_shop', 'not_yet', 'expired')),
    redeemed_count BIGINT NOT NULL CHECK (redeemed_count >= 0 AND redeemed_count <= total_tickets),
    total_tickets BIGINT NOT NULL,
    earlier_at TIMESTAMP,
    earlier_shop_id BIGINT,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, scan_id),
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id),
    FOREIGN KEY (project_id, shop_id) REFERENCES shops (project_id, id),
    FOREIGN KEY (project_id, earlier_shop_id) REFERENCES shops (project_id, id),
    CHECK (outcome <> 'admitted' OR order_id IS NOT NULL)
);
CREATE INDEX ticket_scans_by_order ON ticket_scans (order_id, id);
CREATE INDEX ticket_scans_by_moment ON ticket_scans (created_at) WHERE outcome <> 'admitted';

-- Notifications of customers as sent. They are deleted with the customer, and after 180 days.
CREATE TABLE notifications (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    order_id BIGINT NOT NULL,
    code TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount >= 0),
    language TEXT NOT NULL CHECK (language IN ('ru', 'en')),
    title TEXT NOT NULL,
    body TEXT,
    created_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id),
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id)
);
CREATE INDEX notifications_by_customer ON notifications (counterparty_id, application_id, id);
CREATE INDEX notifications_by_moment ON notifications (created_at);
