CREATE TABLE favourites (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    nomenclature_id BIGINT NOT NULL REFERENCES nomenclatures (id),
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, counterparty_id, nomenclature_id)
);
CREATE INDEX favourites_by_customer ON favourites (project_id, counterparty_id, id, nomenclature_id);

-- What customers searched for; the same text in any case is one row.
CREATE TABLE search_requests (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    value TEXT NOT NULL,
    value_key TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, counterparty_id, value_key)
);
CREATE INDEX search_requests_by_moment ON search_requests (project_id, counterparty_id, created_at, id);

-- Pictures of an application that lead somewhere, shown from `starts_at` until `ends_at`.
CREATE TABLE slides (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    title TEXT NOT NULL,
    description TEXT,
    photo TEXT,
    link TEXT CHECK (substr(link, 1, 8) = 'https://' OR substr(link, 1, 7) = 'http://' OR substr(link, 1, 1) = '/'),
    position BIGINT NOT NULL,
    is_active BOOLEAN NOT NULL,
    starts_at TIMESTAMP,
    ends_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX slides_by_position ON slides (project_id, application_id, position, id);
