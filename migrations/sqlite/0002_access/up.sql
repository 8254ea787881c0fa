-- A screen of the staff interface groups the permissions of one resource.
CREATE TABLE screens (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE permissions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    screen_id BIGINT NOT NULL REFERENCES screens (id),
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL
);

CREATE TABLE roles (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    description TEXT,
    is_owner BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX roles_by_project ON roles (project_id, id);

CREATE TABLE role_permissions (
    role_id BIGINT NOT NULL REFERENCES roles (id),
    permission_id BIGINT NOT NULL REFERENCES permissions (id),
    PRIMARY KEY (role_id, permission_id)
);

CREATE TABLE users (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    branch_id BIGINT REFERENCES branches (id),
    role_id BIGINT NOT NULL REFERENCES roles (id),
    creator_id BIGINT REFERENCES users (id),
    login TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    middle_name TEXT,
    phone TEXT,
    is_banned BOOLEAN NOT NULL,
    is_sick BOOLEAN NOT NULL,
    active_seconds BIGINT NOT NULL,
    last_activity_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX users_by_project ON users (project_id, id);

CREATE TABLE counterparties (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    is_company BOOLEAN NOT NULL,
    manager_id BIGINT REFERENCES users (id),
    name TEXT,
    inn TEXT,
    kpp TEXT,
    first_name TEXT,
    last_name TEXT,
    middle_name TEXT,
    birthday DATE,
    address TEXT,
    phone_1 TEXT,
    phone_2 TEXT,
    email TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX counterparties_by_project ON counterparties (project_id, id);
CREATE INDEX counterparties_by_phone ON counterparties (project_id, phone_1);
CREATE INDEX counterparties_by_email ON counterparties (project_id, email);

-- Which customer a contact logs in. The key is what makes find-or-create safe between racing requests.
CREATE TABLE login_contacts (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    contact TEXT NOT NULL,
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    PRIMARY KEY (project_id, contact)
);

CREATE TABLE access_tokens (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guard TEXT NOT NULL CHECK (guard IN ('user', 'counterparty')),
    subject_id BIGINT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT REFERENCES applications (id),
    device TEXT,
    fingerprint TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP,
    expires_at TIMESTAMP NOT NULL
);
CREATE INDEX access_tokens_by_subject ON access_tokens (guard, subject_id);
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

-- One code per contact: a new one replaces the older.
CREATE TABLE one_time_codes (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    contact TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    attempts_left INTEGER NOT NULL CHECK (attempts_left >= 0),
    expires_at TIMESTAMP NOT NULL,
    consumed_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (project_id, contact)
);
CREATE INDEX one_time_codes_by_expiry ON one_time_codes (expires_at);

INSERT INTO screens (id, name) VALUES
    (1, 'agents'),
    (2, 'applications'),
    (3, 'blocks'),
    (4, 'branches'),
    (5, 'brands'),
    (6, 'categories'),
    (7, 'counterparties'),
    (8, 'departments'),
    (9, 'dictionaries'),
    (10, 'discounts'),
    (11, 'files'),
    (12, 'inventories'),
    (13, 'menus'),
    (14, 'nomenclatures'),
    (15, 'orders'),
    (16, 'pages'),
    (17, 'permissions'),
    (18, 'reservations'),
    (19, 'roles'),
    (20, 'shops'),
    (21, 'tasks'),
    (22, 'users'),
    (23, 'warehouses'),
    (24, 'webhooks');

INSERT INTO permissions (id, screen_id, name, description) VALUES
    (1, 1, 'view-agents', 'See agents'),
    (2, 1, 'create-agents', 'Create agents'),
    (3, 1, 'edit-agents', 'Create, change and delete agents'),
    (4, 2, 'view-applications', 'See applications'),
    (5, 2, 'create-applications', 'Create applications'),
    (6, 2, 'edit-applications', 'Create, change and delete applications'),
    (7, 3, 'view-blocks', 'See blocks'),
    (8, 3, 'create-blocks', 'Create blocks'),
    (9, 3, 'edit-blocks', 'Create, change and delete blocks'),
    (10, 4, 'view-branches', 'See branches'),
    (11, 4, 'create-branches', 'Create branches'),
    (12, 4, 'edit-branches', 'Create, change and delete branches'),
    (13, 5, 'view-brands', 'See brands'),
    (14, 5, 'create-brands', 'Create brands'),
    (15, 5, 'edit-brands', 'Create, change and delete brands'),
    (16, 6, 'view-categories', 'See categories'),
    (17, 6, 'create-categories', 'Create categories'),
    (18, 6, 'edit-categories', 'Create, change and delete categories'),
    (19, 7, 'view-counterparties', 'See counterparties'),
    (20, 7, 'create-counterparties', 'Create counterparties'),
    (21, 7, 'edit-counterparties', 'Create, change and delete counterparties'),
    (22, 8, 'view-departments', 'See departments'),
    (23, 8, 'create-departments', 'Create departments'),
    (24, 8, 'edit-departments', 'Create, change and delete departments'),
    (25, 9, 'view-dictionaries', 'See dictionaries'),
    (26, 9, 'create-dictionaries', 'Create dictionaries'),
    (27, 9, 'edit-dictionaries', 'Create, change and delete dictionaries'),
    (28, 10, 'view-discounts', 'See discounts'),
    (29, 10, 'create-discounts', 'Create discounts'),
    (30, 10, 'edit-discounts', 'Create, change and delete discounts'),
    (31, 11, 'view-files', 'See files'),
    (32, 11, 'create-files', 'Create files'),
    (33, 11, 'edit-files', 'Create, change and delete files'),
    (34, 12, 'view-inventories', 'See inventories'),
    (35, 12, 'create-inventories', 'Create inventories'),
    (36, 12, 'edit-inventories', 'Create, change and delete inventories'),
    (37, 13, 'view-menus', 'See menus'),
    (38, 13, 'create-menus', 'Create menus'),
    (39, 13, 'edit-menus', 'Create, change and delete menus'),
    (40, 14, 'view-nomenclatures', 'See nomenclatures'),
    (41, 14, 'create-nomenclatures', 'Create nomenclatures'),
    (42, 14, 'edit-nomenclatures', 'Create, change and delete nomenclatures'),
    (43, 15, 'view-orders', 'See orders'),
    (44, 15, 'create-orders', 'Create orders'),
    (45, 15, 'edit-orders', 'Create, change and delete orders'),
    (46, 16, 'view-pages', 'See pages'),
    (47, 16, 'create-pages', 'Create pages'),
    (48, 16, 'edit-pages', 'Create, change and delete pages'),
    (49, 17, 'view-permissions', 'See permissions'),
    (50, 17, 'create-permissions', 'Create permissions'),
    (51, 17, 'edit-permissions', 'Create, change and delete permissions'),
    (52, 18, 'view-reservations', 'See reservations'),
    (53, 18, 'create-reservations', 'Create reservations'),
    (54, 18, 'edit-reservations', 'Create, change and delete reservations'),
    (55, 19, 'view-roles', 'See roles'),
    (56, 19, 'create-roles', 'Create roles'),
    (57, 19, 'edit-roles', 'Create, change and delete roles'),
    (58, 20, 'view-shops', 'See shops'),
    (59, 20, 'create-shops', 'Create shops'),
    (60, 20, 'edit-shops', 'Create, change and delete shops'),
    (61, 21, 'view-tasks', 'See tasks'),
    (62, 21, 'create-tasks', 'Create tasks'),
    (63, 21, 'edit-tasks', 'Create, change and delete tasks'),
    (64, 22, 'view-users', 'See users'),
    (65, 22, 'create-users', 'Create users'),
    (66, 22, 'edit-users', 'Create, change and delete users'),
    (67, 23, 'view-warehouses', 'See warehouses'),
    (68, 23, 'create-warehouses', 'Create warehouses'),
    (69, 23, 'edit-warehouses', 'Create, change and delete warehouses'),
    (70, 24, 'view-webhooks', 'See webhooks'),
    (71, 24, 'create-webhooks', 'Create webhooks'),
    (72, 24, 'edit-webhooks', 'Create, change and delete webhooks');
