-- Projects with their branches, applications, shops, delivery and payment types, integrations, and the dictionaries.
--
-- Every key of a table with `project_id` contains it, and references between these tables contain it, too: no row refers to a
-- record of another project. Values that are looked up before the project is known are unique by themselves.
-- The row id is a key by itself; references need `UNIQUE (project_id, id)` beside it.

-- Tenants. Every record belongs to one.
CREATE TABLE projects (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    currency TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    -- IANA time zone in which the days of a project begin.
    time_zone TEXT NOT NULL DEFAULT 'Europe/Moscow',
    -- Language of texts for customers.
    language TEXT NOT NULL DEFAULT 'ru' CHECK (language IN ('ru', 'en')),
    -- Changes require `If-Match`.
    if_match_required BOOLEAN NOT NULL DEFAULT FALSE,
    -- Limits of unconfirmed orders from the contact form: units, value in minor units, and hours of the reservation.
    contact_max_pieces BIGINT NOT NULL DEFAULT 100,
    contact_max_value BIGINT NOT NULL DEFAULT 10000000,
    contact_hold_hours BIGINT NOT NULL DEFAULT 72,
    -- Orders include the price of their delivery.
    charges_delivery BOOLEAN NOT NULL DEFAULT FALSE,
    version BIGINT NOT NULL DEFAULT 1
);

-- `name_key` is the name in lower case, `sort_key` its position in a sorted list. Both are written with the name.
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
    updated_at TIMESTAMP NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    name_key TEXT NOT NULL DEFAULT '',
    sort_key BLOB
);
CREATE UNIQUE INDEX branches_by_project ON branches (project_id, id);
CREATE INDEX branches_by_moment ON branches (project_id, created_at, id);
CREATE INDEX branches_by_change ON branches (project_id, updated_at, id);
CREATE INDEX branches_by_sort_key ON branches (project_id, sort_key, id);

-- Bank accounts of a branch. They are deleted with the branch.
CREATE TABLE branch_bank_requisites (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    branch_id BIGINT NOT NULL,
    bik TEXT NOT NULL,
    bank_name TEXT NOT NULL,
    correspondent_account TEXT,
    account TEXT NOT NULL,
    comment TEXT,
    version BIGINT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, branch_id) REFERENCES branches (project_id, id)
);
CREATE INDEX branch_bank_requisites_by_branch ON branch_bank_requisites (branch_id, id);

-- Departments of a project. A department may belong to one branch.
CREATE TABLE departments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    branch_id BIGINT,
    name TEXT NOT NULL,
    description TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, branch_id) REFERENCES branches (project_id, id)
);
CREATE UNIQUE INDEX departments_by_project ON departments (project_id, id);
CREATE INDEX departments_of_branch ON departments (branch_id);

CREATE TABLE applications (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    branch_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    url TEXT,
    token_fingerprint TEXT NOT NULL UNIQUE,
    is_active BOOLEAN NOT NULL,
    wholesale BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- Time of the last reactivation. Charges missed while the application was inactive are not made up.
    activated_at TIMESTAMP,
    version BIGINT NOT NULL DEFAULT 1,
    -- Time when the App Token was replaced. NULL means never.
    token_issued_at TIMESTAMP,
    FOREIGN KEY (project_id, branch_id) REFERENCES branches (project_id, id)
);
CREATE UNIQUE INDEX applications_by_project ON applications (project_id, id);
CREATE INDEX applications_by_branch ON applications (branch_id);

CREATE TABLE shops (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    branch_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    phone TEXT,
    photo TEXT,
    latitude TEXT,
    longitude TEXT,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- NULL means the time zone of the project.
    time_zone TEXT,
    name_key TEXT NOT NULL DEFAULT '',
    sort_key BLOB,
    deleted_at TIMESTAMP,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, branch_id) REFERENCES branches (project_id, id)
);
CREATE UNIQUE INDEX shops_by_project ON shops (project_id, id);
CREATE INDEX shops_of_branch ON shops (branch_id);
CREATE INDEX shops_by_sort_key ON shops (project_id, sort_key, id);
CREATE INDEX shops_by_branch ON shops (project_id, branch_id, id);
CREATE INDEX shops_by_moment ON shops (project_id, created_at, id);
CREATE INDEX shops_by_change ON shops (project_id, updated_at, id);

-- Weekly opening hours in local time of the shop. A closing time before the opening time is on the next day.
CREATE TABLE shop_hours (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    shop_id BIGINT NOT NULL,
    weekday BIGINT NOT NULL CHECK (weekday BETWEEN 1 AND 7),
    opens TEXT NOT NULL,
    closes TEXT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, shop_id) REFERENCES shops (project_id, id)
);
CREATE INDEX shop_hours_by_shop ON shop_hours (shop_id, weekday, opens);

-- Days on which a shop is closed.
CREATE TABLE shop_holidays (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    shop_id BIGINT NOT NULL,
    day TEXT NOT NULL,
    name TEXT,
    is_yearly BOOLEAN NOT NULL,
    FOREIGN KEY (project_id, shop_id) REFERENCES shops (project_id, id)
);
CREATE UNIQUE INDEX shop_holidays_by_day ON shop_holidays (shop_id, day, project_id);

-- Different opening hours on one day. Without times the shop is closed.
CREATE TABLE shop_exceptions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    shop_id BIGINT NOT NULL,
    day TEXT NOT NULL,
    opens TEXT,
    closes TEXT,
    note TEXT,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, shop_id) REFERENCES shops (project_id, id),
    CHECK ((opens IS NULL) = (closes IS NULL))
);
CREATE INDEX shop_exceptions_by_shop ON shop_exceptions (shop_id, day, opens);

-- The ids have a meaning (1 pickup, 2 delivery) and are the same in every project.
CREATE TABLE delivery_types (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    price BIGINT NOT NULL CHECK (price >= 0),
    is_active BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, id)
);

CREATE TABLE delivery_subtypes (
    project_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    delivery_type_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    price BIGINT NOT NULL CHECK (price >= 0),
    is_active BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, delivery_type_id) REFERENCES delivery_types (project_id, id)
);

CREATE TABLE delivery_subtype_params (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    delivery_subtype_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    address TEXT,
    is_active BOOLEAN NOT NULL,
    UNIQUE (project_id, id),
    FOREIGN KEY (project_id, delivery_subtype_id) REFERENCES delivery_subtypes (project_id, id)
);
CREATE INDEX delivery_subtype_params_by_subtype ON delivery_subtype_params (project_id, delivery_subtype_id, id);

CREATE TABLE payment_types (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    description TEXT,
    photo TEXT,
    is_online BOOLEAN NOT NULL DEFAULT FALSE,
    version BIGINT NOT NULL DEFAULT 1
);
CREATE UNIQUE INDEX payment_types_by_project ON payment_types (project_id, id);

-- Payment types that an application accepts. An application without rows accepts all types of its project.
CREATE TABLE application_payment_types (
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    payment_type_id BIGINT NOT NULL,
    PRIMARY KEY (application_id, payment_type_id, project_id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, payment_type_id) REFERENCES payment_types (project_id, id) ON DELETE CASCADE
);
CREATE INDEX application_payment_types_by_type ON application_payment_types (payment_type_id);

-- External systems that records can be linked to. `owner` is the kind of these records.
CREATE TABLE integrations (
    id BIGINT NOT NULL PRIMARY KEY,
    type_id BIGINT NOT NULL,
    owner TEXT NOT NULL CHECK (owner IN ('warehouse', 'bank_requisite')),
    name TEXT NOT NULL
);
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
    version BIGINT NOT NULL DEFAULT 1,
    UNIQUE (owner, owner_id, integration_id, project_id),
    UNIQUE (project_id, id)
);

-- Secret values are encrypted with the service key.
CREATE TABLE integration_parameters (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    link_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    is_secret BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (link_id, name, project_id),
    FOREIGN KEY (project_id, link_id) REFERENCES integration_links (project_id, id)
);

-- Dictionaries of one shape, such as order statuses, VAT rates and cities.
CREATE TABLE dictionary_items (
    dictionary TEXT NOT NULL,
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    avatar TEXT,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (dictionary, id)
);
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
    ('vats', 5, '22%', '2026-01-01 00:00:00'),
    ('file_types', 1, 'Employment contract', '2026-01-01 00:00:00'),
    ('file_types', 2, 'Avatar', '2026-01-01 00:00:00'),
    ('file_types', 3, 'Order file', '2026-01-01 00:00:00'),
    ('nomenclature_types', 1, 'Merchandise', '2026-01-01 00:00:00'),
    ('nomenclature_types', 2, 'Own production', '2026-01-01 00:00:00'),
    ('nomenclature_types', 3, 'Material', '2026-01-01 00:00:00'),
    ('nomenclature_types', 4, 'Set', '2026-01-01 00:00:00'),
    ('nomenclature_types', 5, 'Work', '2026-01-01 00:00:00'),
    ('nomenclature_types', 6, 'Ticket', '2026-01-01 00:00:00'),
    ('call_statuses', 1, 'New', '2026-01-01 00:00:00'),
    ('call_statuses', 2, 'Answered', '2026-01-01 00:00:00'),
    ('call_statuses', 3, 'Missed', '2026-01-01 00:00:00'),
    ('call_statuses', 4, 'Call back', '2026-01-01 00:00:00'),
    ('call_statuses', 5, 'Closed', '2026-01-01 00:00:00'),
    ('task_statuses', 1, 'New', '2026-01-01 00:00:00'),
    ('task_statuses', 2, 'In progress', '2026-01-01 00:00:00'),
    ('task_statuses', 3, 'Done', '2026-01-01 00:00:00'),
    ('task_statuses', 4, 'Canceled', '2026-01-01 00:00:00'),
    ('page_types', 1, 'Page', '2026-01-01 00:00:00'),
    ('page_types', 2, 'Article', '2026-01-01 00:00:00'),
    ('page_types', 3, 'News', '2026-01-01 00:00:00'),
    ('page_types', 4, 'Document', '2026-01-01 00:00:00'),
    ('block_types', 1, 'Text', '2026-01-01 00:00:00'),
    ('block_types', 2, 'Banner', '2026-01-01 00:00:00'),
    ('block_types', 3, 'Products', '2026-01-01 00:00:00'),
    ('block_types', 4, 'Gallery', '2026-01-01 00:00:00'),
    ('integration_types', 1, 'Online payments', '2026-01-01 00:00:00'),
    ('integration_types', 2, 'Cash register', '2026-01-01 00:00:00'),
    ('integration_types', 3, 'Delivery service', '2026-01-01 00:00:00'),
    ('integration_types', 4, 'Telephony', '2026-01-01 00:00:00'),
    ('integration_types', 5, 'Accounting', '2026-01-01 00:00:00'),
    ('integration_types', 6, 'Marketplace', '2026-01-01 00:00:00'),
    ('objects', 1, 'Branch', '2026-01-01 00:00:00'),
    ('objects', 2, 'Application', '2026-01-01 00:00:00'),
    ('objects', 3, 'Category', '2026-01-01 00:00:00'),
    ('objects', 4, 'Nomenclature', '2026-01-01 00:00:00'),
    ('objects', 5, 'Warehouse', '2026-01-01 00:00:00'),
    ('objects', 6, 'Inventory', '2026-01-01 00:00:00'),
    ('objects', 7, 'Discount', '2026-01-01 00:00:00'),
    ('objects', 8, 'Shop', '2026-01-01 00:00:00'),
    ('objects', 9, 'Counterparty', '2026-01-01 00:00:00'),
    ('objects', 10, 'Order', '2026-01-01 00:00:00'),
    ('objects', 11, 'Task', '2026-01-01 00:00:00'),
    ('objects', 12, 'Block', '2026-01-01 00:00:00'),
    ('objects', 13, 'Page', '2026-01-01 00:00:00'),
    ('objects', 14, 'User', '2026-01-01 00:00:00'),
    ('cities', 1, 'Moscow', '2026-01-01 00:00:00'),
    ('cities', 2, 'Saint Petersburg', '2026-01-01 00:00:00'),
    ('cities', 3, 'Novosibirsk', '2026-01-01 00:00:00'),
    ('cities', 4, 'Yekaterinburg', '2026-01-01 00:00:00'),
    ('cities', 5, 'Kazan', '2026-01-01 00:00:00'),
    ('cities', 6, 'Krasnoyarsk', '2026-01-01 00:00:00'),
    ('cities', 7, 'Nizhny Novgorod', '2026-01-01 00:00:00'),
    ('cities', 8, 'Chelyabinsk', '2026-01-01 00:00:00'),
    ('cities', 9, 'Ufa', '2026-01-01 00:00:00'),
    ('cities', 10, 'Samara', '2026-01-01 00:00:00'),
    ('cities', 11, 'Rostov-on-Don', '2026-01-01 00:00:00'),
    ('cities', 12, 'Krasnodar', '2026-01-01 00:00:00'),
    ('cities', 13, 'Omsk', '2026-01-01 00:00:00'),
    ('cities', 14, 'Voronezh', '2026-01-01 00:00:00'),
    ('cities', 15, 'Perm', '2026-01-01 00:00:00'),
    ('cities', 16, 'Volgograd', '2026-01-01 00:00:00'),
    ('sales_strategies', 1, 'Retail', '2026-01-01 00:00:00'),
    ('sales_strategies', 2, 'Wholesale', '2026-01-01 00:00:00'),
    ('sales_strategies', 3, 'Subscription', '2026-01-01 00:00:00'),
    ('sales_channels', 1, 'Website', '2026-01-01 00:00:00'),
    ('sales_channels', 2, 'Mobile app', '2026-01-01 00:00:00'),
    ('sales_channels', 3, 'Messenger mini-app', '2026-01-01 00:00:00'),
    ('sales_channels', 4, 'Shop', '2026-01-01 00:00:00'),
    ('sales_channels', 5, 'Phone', '2026-01-01 00:00:00');

CREATE TABLE storage_units (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    abbreviation TEXT NOT NULL
);
INSERT INTO storage_units (id, name, abbreviation) VALUES
    (1, 'Piece', 'pc'),
    (2, 'Kilogram', 'kg'),
    (3, 'Litre', 'l'),
    (4, 'Metre', 'm'),
    (5, 'Square metre', 'm2'),
    (6, 'Cubic metre', 'm3'),
    (7, 'Pack', 'pack'),
    (8, 'Hour', 'h');

CREATE TABLE countries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    photo TEXT,
    created_at TIMESTAMP NOT NULL
);
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

-- Projects on their way to another database, or moved there. Until `frozen_until`, and once moved, changes are refused.
CREATE TABLE project_moves (
    project_id BIGINT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('copying', 'moved')),
    -- Address of the other database, without the password.
    target TEXT NOT NULL,
    started_at TIMESTAMP NOT NULL,
    frozen_until TIMESTAMP
);

-- Rows of these projects that changed while they were copied; triggers write them. `row_key` is the primary key as JSON.
CREATE TABLE project_move_changes (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    table_name TEXT NOT NULL,
    row_key TEXT NOT NULL
);
