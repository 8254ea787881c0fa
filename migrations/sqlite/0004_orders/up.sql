CREATE TABLE orders (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    manager_id BIGINT REFERENCES users (id),
    status_id BIGINT NOT NULL,
    original_price BIGINT NOT NULL,
    product_discount BIGINT NOT NULL,
    promo_discount BIGINT NOT NULL,
    final_price BIGINT NOT NULL,
    discount_id BIGINT REFERENCES discounts (id),
    promo_code TEXT,
    delivery_type_id BIGINT NOT NULL,
    delivery_subtype_id BIGINT,
    delivery_subtype_param_id BIGINT REFERENCES delivery_subtype_params (id),
    shop_id BIGINT REFERENCES shops (id),
    address TEXT,
    phone TEXT,
    payment_type_id BIGINT REFERENCES payment_types (id),
    payment_method_type TEXT,
    payment_link TEXT,
    comment TEXT,
    paid_at TIMESTAMP,
    version BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    CHECK (original_price - product_discount - promo_discount = final_price AND final_price >= 0
        AND product_discount >= 0 AND promo_discount >= 0)
);
CREATE INDEX orders_by_project ON orders (project_id, id);
CREATE INDEX orders_by_status ON orders (project_id, status_id, id);
CREATE INDEX orders_by_customer ON orders (counterparty_id, application_id, id);
CREATE INDEX orders_by_application ON orders (project_id, application_id, id);
CREATE INDEX orders_by_date ON orders (project_id, created_at);
CREATE INDEX orders_by_phone ON orders (project_id, phone);

-- An order line: its claim on stock. `state` is `held` (stock reserved), `released` or `sold`.
CREATE TABLE reservations (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    order_id BIGINT NOT NULL REFERENCES orders (id),
    nomenclature_id BIGINT NOT NULL REFERENCES nomenclatures (id),
    inventory_id BIGINT REFERENCES inventories (id),
    name TEXT NOT NULL,
    quantity BIGINT NOT NULL CHECK (quantity >= 1),
    unit_price BIGINT NOT NULL CHECK (unit_price >= 0),
    product_discount BIGINT NOT NULL CHECK (product_discount >= 0),
    promo_discount BIGINT NOT NULL CHECK (promo_discount >= 0),
    total BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('held', 'released', 'sold')),
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    CHECK (unit_price * quantity - product_discount - promo_discount = total AND total >= 0)
);
CREATE INDEX reservations_by_order ON reservations (order_id, id);
CREATE INDEX reservations_by_inventory ON reservations (inventory_id, state);

CREATE TABLE discount_usages (
    order_id BIGINT NOT NULL PRIMARY KEY REFERENCES orders (id),
    project_id BIGINT NOT NULL REFERENCES projects (id),
    discount_id BIGINT NOT NULL REFERENCES discounts (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX discount_usages_by_customer ON discount_usages (discount_id, counterparty_id);

-- One attempt to take the money of an order. The row with its key stands before the acquirer is called.
CREATE TABLE payment_attempts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    order_id BIGINT NOT NULL REFERENCES orders (id),
    idempotence_key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('prepared', 'pending', 'succeeded', 'canceled', 'refused')),
    provider_payment_id TEXT UNIQUE,
    amount BIGINT NOT NULL CHECK (amount > 0),
    request TEXT NOT NULL,
    confirmation_url TEXT,
    reason TEXT,
    checks INTEGER NOT NULL,
    next_check_at TIMESTAMP,
    leased_until TIMESTAMP,
    lease_owner TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX payment_attempts_by_order ON payment_attempts (order_id, id);
CREATE INDEX payment_attempts_by_check ON payment_attempts (next_check_at);
-- At most one attempt of an order may still take money or have taken it.
CREATE UNIQUE INDEX payment_attempts_one_open ON payment_attempts (order_id)
    WHERE state IN ('prepared', 'pending', 'succeeded');

CREATE TABLE order_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    order_id BIGINT NOT NULL REFERENCES orders (id),
    actor TEXT NOT NULL CHECK (actor IN ('customer', 'user', 'system')),
    actor_id BIGINT,
    event TEXT NOT NULL,
    status_id BIGINT NOT NULL,
    detail TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX order_events_by_order ON order_events (order_id, id);
