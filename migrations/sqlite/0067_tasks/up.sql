-- What employees are to do.
CREATE TABLE tasks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    sort_key BLOB NOT NULL,
    description TEXT,
    status_id BIGINT NOT NULL CHECK (status_id BETWEEN 1 AND 4),
    author_id BIGINT REFERENCES users (id),
    responsible_id BIGINT REFERENCES users (id),
    deadline TIMESTAMP,
    order_id BIGINT REFERENCES orders (id),
    counterparty_id BIGINT REFERENCES counterparties (id),
    closed_at TIMESTAMP,
    version BIGINT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX tasks_by_project ON tasks (project_id, id);
CREATE INDEX tasks_by_sort_key ON tasks (project_id, sort_key, id);
CREATE INDEX tasks_by_status ON tasks (project_id, status_id, id);
CREATE INDEX tasks_by_responsible ON tasks (project_id, responsible_id, id);
CREATE INDEX tasks_by_author ON tasks (project_id, author_id, id);
CREATE INDEX tasks_by_order ON tasks (project_id, order_id, id);
CREATE INDEX tasks_by_customer ON tasks (project_id, counterparty_id, id);
CREATE INDEX tasks_by_deadline ON tasks (project_id, deadline, id);
CREATE INDEX tasks_by_moment ON tasks (project_id, created_at, id);
CREATE INDEX tasks_by_change ON tasks (project_id, updated_at, id);
