-- Branches are edited and found by name: `name_key` is the name in lower case, `sort_key` its place among others. Both are
-- written with the name; rows without are filled in by `kontor migrate`.
ALTER TABLE branches ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE branches ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
ALTER TABLE branches ADD COLUMN sort_key BLOB;
CREATE INDEX branches_by_moment ON branches (project_id, created_at, id);
CREATE INDEX branches_by_change ON branches (project_id, updated_at, id);
CREATE INDEX branches_by_sort_key ON branches (project_id, sort_key, id);

-- A branch is deleted when nothing refers to it.
CREATE INDEX departments_of_branch ON departments (branch_id);
CREATE INDEX shops_of_branch ON shops (branch_id);
CREATE INDEX users_of_branch ON users (branch_id);
CREATE INDEX warehouses_of_branch ON warehouses (branch_id);

-- Accounts of a branch in banks. They go with the branch.
CREATE TABLE branch_bank_requisites (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    branch_id BIGINT NOT NULL REFERENCES branches (id),
    bik TEXT NOT NULL,
    bank_name TEXT NOT NULL,
    correspondent_account TEXT,
    account TEXT NOT NULL,
    comment TEXT,
    version BIGINT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX branch_bank_requisites_by_branch ON branch_bank_requisites (branch_id, id);
