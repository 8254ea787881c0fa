-- The ledger of stock: every change of pieces or claims, and of the price, with who did it and why. `quantity` and
-- `reserved` are changes, `..._after` the figures that came of them; the figures of `inventories` are kept beside it.
-- Whoever changes the figures writes here in the same commit. Prices stand only where one changed.
CREATE TABLE stock_movements (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    inventory_id BIGINT NOT NULL REFERENCES inventories (id),
    nomenclature_id BIGINT NOT NULL,
    warehouse_id BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    reserved BIGINT NOT NULL,
    quantity_after BIGINT NOT NULL,
    reserved_after BIGINT NOT NULL,
    price_before BIGINT,
    price_after BIGINT,
    reason TEXT NOT NULL CHECK (reason IN
        ('opening', 'creation', 'edit', 'upload', 'reservation', 'release', 'sale', 'correction')),
    source TEXT CHECK (source IN ('order', 'job')),
    source_id BIGINT,
    actor TEXT NOT NULL CHECK (actor IN ('customer', 'user', 'system')),
    actor_id BIGINT,
    created_at TIMESTAMP NOT NULL,
    CHECK ((source IS NULL) = (source_id IS NULL))
);
CREATE INDEX stock_movements_by_inventory ON stock_movements (project_id, inventory_id, id);

-- What lies there already is the beginning of the ledger.
INSERT INTO stock_movements (project_id, inventory_id, nomenclature_id, warehouse_id, quantity, reserved,
    quantity_after, reserved_after, reason, actor, created_at)
SELECT project_id, id, nomenclature_id, warehouse_id, quantity, reserved, quantity, reserved, 'opening', 'system',
    updated_at
FROM inventories ORDER BY id;

-- A deleted warehouse takes its empty stock records along. Orders and the ledger go on naming both.
ALTER TABLE warehouses ADD COLUMN deleted_at TIMESTAMP;
ALTER TABLE inventories ADD COLUMN deleted_at TIMESTAMP;

-- The lines of all orders, newest first.
CREATE INDEX reservations_by_project ON reservations (project_id, id);

-- Programs of others that records can work with; `owner` is the kind of these records.
CREATE TABLE integrations (
    id BIGINT NOT NULL PRIMARY KEY,
    type_id BIGINT NOT NULL,
    owner TEXT NOT NULL CHECK (owner IN ('warehouse', 'bank_requisite')),
    name TEXT NOT NULL
);
INSERT INTO dictionary_items (dictionary, id, name, created_at) VALUES
    ('integration_types', 1, 'Online payments', '2026-01-01 00:00:00'),
    ('integration_types', 2, 'Cash register', '2026-01-01 00:00:00'),
    ('integration_types', 3, 'Delivery service', '2026-01-01 00:00:00'),
    ('integration_types', 5, 'Accounting', '2026-01-01 00:00:00'),
    ('integration_types', 6, 'Marketplace', '2026-01-01 00:00:00')
ON CONFLICT (dictionary, id) DO NOTHING;
INSERT INTO integrations (id, type_id, owner, name) VALUES
    (1, 1, 'bank_requisite', 'Acquirer'),
    (2, 2, 'bank_requisite', 'Online cash register'),
    (3, 3, 'warehouse', 'Delivery service'),
    (4, 5, 'warehouse', 'Accounting system'),
    (5, 6, 'warehouse', 'Marketplace');

CREATE TABLE integration_links (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    owner TEXT NOT NULL CHECK (owner IN ('warehouse', 'bank_requisite')),
    owner_id BIGINT NOT NULL,
    integration_id BIGINT NOT NULL REFERENCES integrations (id),
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (owner, owner_id, integration_id)
);

-- The value of a secret is sealed with the service key.
CREATE TABLE integration_parameters (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    link_id BIGINT NOT NULL REFERENCES integration_links (id),
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    is_secret BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (link_id, name)
);
