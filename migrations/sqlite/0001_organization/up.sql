CREATE TABLE projects (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    currency TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE branches (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    inn TEXT,
    kpp TEXT,
    address TEXT,
    phone TEXT,
    email TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX branches_by_project ON branches (project_id, id);

CREATE TABLE applications (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    branch_id BIGINT NOT NULL REFERENCES branches (id),
    name TEXT NOT NULL,
    url TEXT,
    token_fingerprint TEXT NOT NULL UNIQUE,
    is_active BOOLEAN NOT NULL,
    wholesale BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX applications_by_project ON applications (project_id, id);
CREATE INDEX applications_by_branch ON applications (branch_id);

CREATE TABLE shops (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    branch_id BIGINT NOT NULL REFERENCES branches (id),
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    phone TEXT,
    photo TEXT,
    latitude TEXT,
    longitude TEXT,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX shops_by_project ON shops (project_id, id);

-- Dictionaries of one shape: order statuses, nomenclature kinds, counterparty types, VAT rates.
CREATE TABLE dictionary_items (
    dictionary TEXT NOT NULL,
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    avatar TEXT,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (dictionary, id)
);

CREATE TABLE storage_units (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    abbreviation TEXT NOT NULL
);

CREATE TABLE countries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    photo TEXT,
    created_at TIMESTAMP NOT NULL
);

-- The ids of delivery types and subtypes carry meaning (1 pickup, 2 delivery), so every project has the same ones.
CREATE TABLE delivery_types (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    price BIGINT NOT NULL CHECK (price >= 0),
    is_active BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, id)
);

CREATE TABLE delivery_subtypes (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    id BIGINT NOT NULL,
    delivery_type_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    price BIGINT NOT NULL CHECK (price >= 0),
    is_active BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, id)
);

CREATE TABLE delivery_subtype_params (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    delivery_subtype_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    address TEXT,
    is_active BOOLEAN NOT NULL
);
CREATE INDEX delivery_subtype_params_by_subtype ON delivery_subtype_params (project_id, delivery_subtype_id, id);

CREATE TABLE payment_types (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    description TEXT,
    photo TEXT
);
CREATE INDEX payment_types_by_project ON payment_types (project_id, id);

INSERT INTO dictionary_items (dictionary, id, name, created_at) VALUES
    ('order_statuses', 1, 'Created', '2026-01-01 00:00:00'),
    ('order_statuses', 2, 'Waiting for payment', '2026-01-01 00:00:00'),
    ('order_statuses', 3, 'In processing', '2026-01-01 00:00:00'),
    ('order_statuses', 4, 'Ready for pickup', '2026-01-01 00:00:00'),
    ('order_statuses', 5, 'Issued', '2026-01-01 00:00:00'),
    ('order_statuses', 6, 'Canceled', '2026-01-01 00:00:00'),
    ('order_statuses', 22, 'Paid', '2026-01-01 00:00:00'),
    ('nomenclature_kinds', 1, 'Service', '2026-01-01 00:00:00'),
    ('nomenclature_kinds', 2, 'Goods', '2026-01-01 00:00:00'),
    ('counterparty_types', 1, 'Person', '2026-01-01 00:00:00'),
    ('counterparty_types', 2, 'Company', '2026-01-01 00:00:00'),
    ('vats', 1, 'No VAT', '2026-01-01 00:00:00'),
    ('vats', 2, '0%', '2026-01-01 00:00:00'),
    ('vats', 3, '10%', '2026-01-01 00:00:00'),
    ('vats', 4, '20%', '2026-01-01 00:00:00'),
    ('vats', 5, '22%', '2026-01-01 00:00:00');

INSERT INTO storage_units (id, name, abbreviation) VALUES
    (1, 'Piece', 'pc'),
    (2, 'Kilogram', 'kg'),
    (3, 'Litre', 'l'),
    (4, 'Metre', 'm'),
    (5, 'Square metre', 'm2'),
    (6, 'Cubic metre', 'm3'),
    (7, 'Pack', 'pack'),
    (8, 'Hour', 'h');

INSERT INTO countries (id, name, created_at) VALUES
    (1, 'Russia', '2026-01-01 00:00:00'),
    (2, 'Belarus', '2026-01-01 00:00:00'),
    (3, 'Kazakhstan', '2026-01-01 00:00:00'),
    (4, 'China', '2026-01-01 00:00:00'),
    (5, 'Germany', '2026-01-01 00:00:00'),
    (6, 'Italy', '2026-01-01 00:00:00'),
    (7, 'Turkey', '2026-01-01 00:00:00'),
    (8, 'India', '2026-01-01 00:00:00'),
    (9, 'Sweden', '2026-01-01 00:00:00'),
    (10, 'Poland', '2026-01-01 00:00:00');
