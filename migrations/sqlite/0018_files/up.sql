-- Uploaded files. A record waits for its content, is ready when the whole content is stored, and is deleted before its
-- content goes; it disappears after it. Only ready ones are shown.
CREATE TABLE files (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    file_type_id BIGINT NOT NULL CHECK (file_type_id IN (1, 2, 3)),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'ready', 'deleted')),
    -- Under which the content is stored and found.
    file_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    width INTEGER,
    height INTEGER,
    size BIGINT CHECK (size >= 0),
    sha256 TEXT,
    creator_id BIGINT NOT NULL REFERENCES users (id),
    created_at TIMESTAMP NOT NULL,
    -- When the content is to be removed; of a waiting one, unless it is ready before.
    sweep_at TIMESTAMP,
    CHECK ((width IS NULL) = (height IS NULL)),
    CHECK (state <> 'ready' OR (size IS NOT NULL AND sha256 IS NOT NULL)),
    CHECK ((state = 'ready') = (sweep_at IS NULL))
);
CREATE INDEX files_by_project ON files (project_id, id);
CREATE INDEX files_by_sweep ON files (sweep_at) WHERE sweep_at IS NOT NULL;
