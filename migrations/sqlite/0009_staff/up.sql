-- A department of a project, perhaps of one branch.
CREATE TABLE departments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    branch_id BIGINT REFERENCES branches (id),
    name TEXT NOT NULL,
    description TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX departments_by_project ON departments (project_id, id);

ALTER TABLE users ADD COLUMN department_id BIGINT REFERENCES departments (id);
CREATE INDEX users_by_department ON users (department_id);
CREATE INDEX users_by_role ON users (role_id);

-- What a change of a role was decided by; who comes late is told so.
ALTER TABLE roles ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

-- Permissions that a project defines for its own integrations. Names are unique in the whole table, so that of a project
-- stands as '<project>/<name>'; the service's own have no project and never a slash.
ALTER TABLE permissions ADD COLUMN project_id BIGINT REFERENCES projects (id);
CREATE INDEX permissions_by_project ON permissions (project_id, id);
CREATE INDEX role_permissions_by_permission ON role_permissions (permission_id);
-- Below 1000 stand the service's own, as on PostgreSQL.
UPDATE sqlite_sequence SET seq = 999 WHERE name = 'permissions' AND seq < 999;

-- One per employee, beside his password; it takes that one's place when he signs in with it.
CREATE TABLE temporary_passwords (
    user_id BIGINT NOT NULL PRIMARY KEY REFERENCES users (id),
    password_hash TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL
);
CREATE INDEX temporary_passwords_by_expiry ON temporary_passwords (expires_at);

-- Who asked for a temporary password, known or not; the worker finds out and writes to those who are.
CREATE TABLE password_requests (
    login TEXT NOT NULL PRIMARY KEY,
    requested_at TIMESTAMP NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at TIMESTAMP NOT NULL
);
CREATE INDEX password_requests_by_next_attempt ON password_requests (next_attempt_at);
