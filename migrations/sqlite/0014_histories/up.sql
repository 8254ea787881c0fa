-- Who changed which record, when, and what of it, written in the commits of the changes. `changes` is a list of
-- `{field, old, new}`.
CREATE TABLE histories (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    resource TEXT NOT NULL,
    resource_id BIGINT NOT NULL,
    deed TEXT NOT NULL CHECK (deed IN ('created', 'changed', 'deleted')),
    user_id BIGINT REFERENCES users (id),
    counterparty_id BIGINT REFERENCES counterparties (id),
    changes TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    CHECK (user_id IS NULL OR counterparty_id IS NULL)
);
CREATE INDEX histories_by_record ON histories (project_id, resource, resource_id, id);
