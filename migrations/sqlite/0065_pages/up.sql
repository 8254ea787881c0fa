-- Pages of a project. `search_text` is every word of title, description and text with a space before it; it is written with the page.
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
    author_id BIGINT REFERENCES users (id),
    views_count BIGINT NOT NULL DEFAULT 0,
    search_text TEXT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX pages_by_slug ON pages (project_id, slug);
CREATE UNIQUE INDEX pages_fallback ON pages (project_id) WHERE is_fallback = TRUE;

-- What staff sort and filter by.
CREATE INDEX pages_by_project ON pages (project_id, id);
CREATE INDEX pages_by_sort_key ON pages (project_id, sort_key, id);
CREATE INDEX pages_by_views ON pages (project_id, views_count, id);
CREATE INDEX pages_by_moment ON pages (project_id, created_at, id);
CREATE INDEX pages_by_change ON pages (project_id, updated_at, id);
CREATE INDEX pages_by_type ON pages (project_id, page_type_id, id);
CREATE INDEX pages_inactive ON pages (project_id, id) WHERE is_active = FALSE;

-- What customers sort and filter by.
CREATE INDEX pages_shown_by_moment ON pages (project_id, created_at, id) WHERE is_active = TRUE;
CREATE INDEX pages_shown_by_views ON pages (project_id, views_count, id) WHERE is_active = TRUE;
CREATE INDEX pages_of_type_by_moment ON pages (project_id, page_type_id, created_at, id) WHERE is_active = TRUE;
CREATE INDEX pages_of_type_by_views ON pages (project_id, page_type_id, views_count, id) WHERE is_active = TRUE;

-- Three letters each of every word, as of items; `rowid` is the number of the page.
CREATE VIRTUAL TABLE page_search USING fts5 (
    grams, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_-'"
);

CREATE TABLE page_tags (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX page_tags_by_name ON page_tags (project_id, name_key);

CREATE TABLE page_tag_links (
    page_id BIGINT NOT NULL REFERENCES pages (id),
    position BIGINT NOT NULL,
    page_tag_id BIGINT NOT NULL REFERENCES page_tags (id),
    PRIMARY KEY (page_id, position)
);
CREATE INDEX page_tag_links_by_tag ON page_tag_links (page_tag_id);
