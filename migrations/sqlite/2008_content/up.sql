-- Files, slides, pages, blocks and menus.

-- Uploaded files. A row waits for its content, is ready when the content is stored, and is marked deleted before the content is
-- removed. Only ready files are shown.
CREATE TABLE files (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    file_type_id BIGINT NOT NULL CHECK (file_type_id IN (1, 2, 3)),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'ready', 'deleted')),
    -- Key of the content in the file storage.
    file_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    width INTEGER,
    height INTEGER,
    size BIGINT CHECK (size >= 0),
    sha256 TEXT,
    creator_id BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    -- Time at which the content is removed; of a waiting file, unless it becomes ready before.
    sweep_at TIMESTAMP,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    order_id BIGINT,
    lapses BIGINT NOT NULL DEFAULT 0,
    -- Name in lower case, for searches. A migration may set it to NULL: `kontor migrate` fills it in.
    name_key TEXT,
    FOREIGN KEY (project_id, creator_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id),
    CHECK ((width IS NULL) = (height IS NULL)),
    CHECK (state <> 'ready' OR (size IS NOT NULL AND sha256 IS NOT NULL)),
    CHECK ((state = 'ready') = (sweep_at IS NULL))
);
CREATE UNIQUE INDEX files_by_project ON files (project_id, id);
CREATE INDEX files_by_sweep ON files (sweep_at) WHERE sweep_at IS NOT NULL;
CREATE INDEX files_parked ON files (parked_at) WHERE parked_at IS NOT NULL;
CREATE INDEX files_by_order ON files (order_id, id) WHERE order_id IS NOT NULL;
-- Sort orders and filters of staff.
CREATE INDEX files_ready ON files (project_id, id) WHERE state = 'ready';
CREATE INDEX files_by_name ON files (project_id, name_key, id) WHERE state = 'ready';
CREATE INDEX files_by_moment ON files (project_id, created_at, id) WHERE state = 'ready';
CREATE INDEX files_by_size ON files (project_id, size, id) WHERE state = 'ready';
CREATE INDEX files_by_type ON files (project_id, file_type_id, id) WHERE state = 'ready';
CREATE INDEX files_by_creator ON files (project_id, creator_id, id) WHERE state = 'ready';

-- Pictures of an application, shown from `starts_at` until `ends_at`.
CREATE TABLE slides (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    photo TEXT,
    link TEXT CHECK (substr(link, 1, 8) = 'https://' OR substr(link, 1, 7) = 'http://' OR substr(link, 1, 1) = '/'),
    position BIGINT NOT NULL,
    is_active BOOLEAN NOT NULL,
    starts_at TIMESTAMP,
    ends_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);
CREATE INDEX slides_by_position ON slides (project_id, application_id, position, id);

-- `search_text` is every word of title, description and text, each after a space. It is written with the page.
CREATE TABLE pages (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    page_type_id BIGINT,
    slug TEXT NOT NULL,
    title TEXT NOT NULL,
    sort_key BLOB NOT NULL,
    description TEXT,
    preview TEXT,
    content TEXT,
    is_active BOOLEAN NOT NULL,
    is_fallback BOOLEAN NOT NULL,
    author_id BIGINT,
    views_count BIGINT NOT NULL DEFAULT 0,
    search_text TEXT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, author_id) REFERENCES users (project_id, id)
);
CREATE UNIQUE INDEX pages_by_slug ON pages (project_id, slug);
CREATE UNIQUE INDEX pages_fallback ON pages (project_id) WHERE is_fallback = TRUE;
-- Sort orders and filters of staff.
CREATE UNIQUE INDEX pages_by_project ON pages (project_id, id);
CREATE INDEX pages_by_sort_key ON pages (project_id, sort_key, id);
CREATE INDEX pages_by_views ON pages (project_id, views_count, id);
CREATE INDEX pages_by_moment ON pages (project_id, created_at, id);
CREATE INDEX pages_by_change ON pages (project_id, updated_at, id);
CREATE INDEX pages_by_type ON pages (project_id, page_type_id, id);
CREATE INDEX pages_inactive ON pages (project_id, id) WHERE is_active = FALSE;
-- Sort orders and filters of customers.
CREATE INDEX pages_shown_by_moment ON pages (project_id, created_at, id) WHERE is_active = TRUE;
CREATE INDEX pages_shown_by_views ON pages (project_id, views_count, id) WHERE is_active = TRUE;
CREATE INDEX pages_of_type_by_moment ON pages (project_id, page_type_id, created_at, id) WHERE is_active = TRUE;
CREATE INDEX pages_of_type_by_views ON pages (project_id, page_type_id, views_count, id) WHERE is_active = TRUE;
-- Columns that a search shows, counts and sorts by, without the long texts before them in every row.
CREATE INDEX pages_found ON pages (id, project_id, is_active, page_type_id, views_count, created_at, updated_at);

-- Three, four and six letters each of every word; `rowid` is the id of the page.
CREATE VIRTUAL TABLE page_search USING fts5 (
    grams, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_-'"
);

CREATE TABLE page_tags (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, id)
);
CREATE UNIQUE INDEX page_tags_by_name ON page_tags (project_id, name_key);

CREATE TABLE page_tag_links (
    project_id BIGINT NOT NULL,
    page_id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    page_tag_id BIGINT NOT NULL,
    PRIMARY KEY (page_id, position, project_id),
    FOREIGN KEY (project_id, page_id) REFERENCES pages (project_id, id),
    FOREIGN KEY (project_id, page_tag_id) REFERENCES page_tags (project_id, id)
);
CREATE INDEX page_tag_links_by_tag ON page_tag_links (page_tag_id);

-- Trees of content of an application. `slug` is `identifier` in the API.
CREATE TABLE blocks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    parent_id BIGINT,
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
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, parent_id) REFERENCES blocks (project_id, id)
);
CREATE UNIQUE INDEX blocks_by_code ON blocks (application_id, code, project_id);
CREATE UNIQUE INDEX blocks_by_slug ON blocks (application_id, slug, project_id);
CREATE INDEX blocks_by_parent ON blocks (parent_id, code);

CREATE TABLE menu_items (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    parent_id BIGINT,
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
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, parent_id) REFERENCES menu_items (project_id, id)
);
CREATE UNIQUE INDEX menu_items_by_code ON menu_items (application_id, code, project_id);
CREATE UNIQUE INDEX menu_items_by_slug ON menu_items (application_id, slug, project_id);
CREATE INDEX menu_items_by_parent ON menu_items (parent_id, position);
