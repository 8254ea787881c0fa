-- Employees and agents: permissions, roles, accounts, tokens and menus.

-- Screens of the staff interface. A screen groups the permissions of one resource.
CREATE TABLE screens (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
);
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
    (24, 'webhooks'),
    (25, 'subscriptions'),
    (26, 'statistics'),
    (27, 'slides'),
    (28, 'settings'),
    (29, 'agent-actions');

-- Permissions of the service have no project. Projects define more for their integrations, named `<project>/<name>`, because
-- names are unique in the table. Names of the service contain no slash.
CREATE TABLE permissions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    screen_id BIGINT NOT NULL REFERENCES screens (id),
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    project_id BIGINT REFERENCES projects (id),
    version BIGINT NOT NULL DEFAULT 1
);
CREATE INDEX permissions_by_project ON permissions (project_id, id);
-- Permissions of projects have the next ids.
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
    (72, 24, 'edit-webhooks', 'Create, change and delete webhooks'),
    (73, 26, 'view-statistics', 'See statistics'),
    (74, 26, 'create-statistics', 'Create statistics'),
    (75, 26, 'edit-statistics', 'Create, change and delete statistics'),
    (76, 27, 'view-slides', 'See slides'),
    (77, 27, 'create-slides', 'Create slides'),
    (78, 27, 'edit-slides', 'Create, change and delete slides'),
    (79, 28, 'view-settings', 'See settings'),
    (80, 28, 'create-settings', 'Create settings'),
    (81, 28, 'edit-settings', 'Create, change and delete settings'),
    (82, 29, 'view-agent-actions', 'See the calls of agents'),
    (83, 29, 'create-agent-actions', 'Create calls of agents'),
    (84, 29, 'edit-agent-actions', 'Change the policy for agents'),
    (85, 29, 'approve-agent-actions', 'Approve and refuse calls of agents'),
    (1000, 25, 'view-subscriptions', 'See subscriptions'),
    (1001, 25, 'create-subscriptions', 'Create subscriptions'),
    (1002, 25, 'edit-subscriptions', 'Create, change and delete subscriptions');

CREATE TABLE roles (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    description TEXT,
    is_owner BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    kind TEXT NOT NULL DEFAULT 'staff' CHECK (kind IN ('staff', 'agent')),
    version BIGINT NOT NULL DEFAULT 1
);
CREATE UNIQUE INDEX roles_by_project ON roles (project_id, id);

CREATE TABLE role_permissions (
    project_id BIGINT NOT NULL,
    role_id BIGINT NOT NULL,
    permission_id BIGINT NOT NULL REFERENCES permissions (id),
    PRIMARY KEY (role_id, permission_id, project_id),
    FOREIGN KEY (project_id, role_id) REFERENCES roles (project_id, id)
);
CREATE INDEX role_permissions_by_permission ON role_permissions (permission_id);

-- Employees and agents. An agent uses the platform surface like an employee. Its role is not in the list of staff roles.
CREATE TABLE users (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    branch_id BIGINT,
    role_id BIGINT NOT NULL,
    creator_id BIGINT,
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
    updated_at TIMESTAMP NOT NULL,
    kind TEXT NOT NULL DEFAULT 'employee' CHECK (kind IN ('employee', 'agent')),
    department_id BIGINT,
    -- A deleted agent is hidden, but history entries still name it.
    deleted_at TIMESTAMP,
    avatar_id BIGINT,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, branch_id) REFERENCES branches (project_id, id),
    FOREIGN KEY (project_id, role_id) REFERENCES roles (project_id, id),
    FOREIGN KEY (project_id, creator_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, department_id) REFERENCES departments (project_id, id),
    FOREIGN KEY (project_id, avatar_id) REFERENCES files (project_id, id)
);
CREATE UNIQUE INDEX users_by_project ON users (project_id, id);
CREATE INDEX users_by_department ON users (department_id);
CREATE INDEX users_by_role ON users (role_id);
CREATE INDEX users_by_kind ON users (project_id, kind, id);
CREATE INDEX users_by_avatar ON users (avatar_id) WHERE avatar_id IS NOT NULL;
CREATE INDEX users_of_branch ON users (branch_id);

-- Second password of an employee. At the first login with it, it replaces the other one.
CREATE TABLE temporary_passwords (
    project_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    PRIMARY KEY (user_id, project_id),
    FOREIGN KEY (project_id, user_id) REFERENCES users (project_id, id)
);
CREATE INDEX temporary_passwords_by_expiry ON temporary_passwords (expires_at);

-- Requests for a temporary password by login, known or not. The worker sends mail to known employees.
CREATE TABLE password_requests (
    login TEXT NOT NULL PRIMARY KEY,
    requested_at TIMESTAMP NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at TIMESTAMP NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    lapses BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX password_requests_by_next_attempt ON password_requests (next_attempt_at);
CREATE INDEX password_requests_parked ON password_requests (parked_at) WHERE parked_at IS NOT NULL;

-- Keyed hashes of the addresses from which employees have signed in, together with their logins.
CREATE TABLE sign_in_addresses (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    seen_at TIMESTAMP NOT NULL
);
CREATE INDEX sign_in_addresses_by_moment ON sign_in_addresses (seen_at);

CREATE TABLE access_tokens (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guard TEXT NOT NULL CHECK (guard IN ('user', 'counterparty')),
    subject_id BIGINT NOT NULL,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT,
    device TEXT,
    fingerprint TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP,
    expires_at TIMESTAMP NOT NULL,
    name TEXT,
    -- Maximum permissions, as a JSON list of names. NULL means all permissions of the role.
    abilities TEXT,
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);
CREATE INDEX access_tokens_by_subject ON access_tokens (guard, subject_id);
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

-- Backends that may introspect customer tokens, one per application and audience.
CREATE TABLE introspection_clients (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    client_id TEXT NOT NULL UNIQUE,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    audience TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    rotated_at TIMESTAMP,
    UNIQUE (application_id, audience, project_id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id) ON DELETE CASCADE
);

-- Bots of the mini-apps of an application. Messengers sign contacts with their tokens.
CREATE TABLE application_miniapps (
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    provider TEXT NOT NULL,
    sealed_token TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (application_id, provider, project_id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);

-- Access requests of programs without credentials. A request belongs to no project until an employee reviews it.
CREATE TABLE agent_access_requests (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL UNIQUE,
    secret_fingerprint TEXT NOT NULL,
    project_id BIGINT REFERENCES projects (id),
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    -- JSON lists of permission names: requested, and granted so far.
    requested TEXT NOT NULL,
    permissions TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'declined', 'consumed')),
    reviewer_id BIGINT,
    agent_id BIGINT,
    decline_reason TEXT,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    decided_at TIMESTAMP,
    consumed_at TIMESTAMP,
    FOREIGN KEY (project_id, reviewer_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, agent_id) REFERENCES users (project_id, id),
    CHECK ((status IN ('approved', 'consumed')) = (agent_id IS NOT NULL)),
    CHECK (status = 'pending' OR project_id IS NOT NULL)
);
CREATE INDEX agent_access_requests_by_expiry ON agent_access_requests (expires_at);
CREATE INDEX agent_access_requests_by_project ON agent_access_requests (project_id, id);

-- Menus of the staff interface.
CREATE TABLE staff_menus (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, id)
);
CREATE UNIQUE INDEX staff_menus_by_name ON staff_menus (project_id, name);

CREATE TABLE staff_menu_items (
    project_id BIGINT NOT NULL,
    menu_id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    screen_id BIGINT REFERENCES screens (id),
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    PRIMARY KEY (menu_id, position, project_id),
    FOREIGN KEY (project_id, menu_id) REFERENCES staff_menus (project_id, id)
);

-- Menu of an employee, or default menu of a project for employees without their own.
CREATE TABLE staff_menu_uses (
    project_id BIGINT NOT NULL,
    owner TEXT NOT NULL CHECK (owner IN ('project', 'user')),
    owner_id BIGINT NOT NULL,
    menu_id BIGINT NOT NULL,
    PRIMARY KEY (owner, owner_id, project_id),
    FOREIGN KEY (project_id, menu_id) REFERENCES staff_menus (project_id, id)
);
CREATE INDEX staff_menu_uses_by_menu ON staff_menu_uses (menu_id);
