-- The trees of what an application shows. Codes and slugs are unique in it; `identifier` of the contract is the slug of a block.
CREATE TABLE blocks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    parent_id BIGINT REFERENCES blocks (id),
    code BIGINT NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    sort_key BLOB NOT NULL,
    avatar TEXT,
    block_type_id BIGINT NOT NULL,
    link TEXT,
    file TEXT,
    text TEXT,
    version BIGINT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX blocks_by_code ON blocks (application_id, code);
CREATE UNIQUE INDEX blocks_by_slug ON blocks (application_id, slug);
CREATE INDEX blocks_by_parent ON blocks (parent_id, code);

CREATE TABLE menu_items (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    parent_id BIGINT REFERENCES menu_items (id),
    code BIGINT NOT NULL,
    slug TEXT NOT NULL,
    position BIGINT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    sort_key BLOB NOT NULL,
    avatar TEXT,
    preview TEXT,
    version BIGINT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX menu_items_by_code ON menu_items (application_id, code);
CREATE UNIQUE INDEX menu_items_by_slug ON menu_items (application_id, slug);
CREATE INDEX menu_items_by_parent ON menu_items (parent_id, position);
