-- Tasks of employees and mails about them.

-- Tasks of employees.
CREATE TABLE tasks (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    sort_key BLOB NOT NULL,
    description TEXT,
    status_id BIGINT NOT NULL CHECK (status_id BETWEEN 1 AND 4),
    author_id BIGINT,
    responsible_id BIGINT,
    deadline TIMESTAMP,
    order_id BIGINT,
    counterparty_id BIGINT,
    closed_at TIMESTAMP,
    version BIGINT NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, author_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, responsible_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id)
);
CREATE UNIQUE INDEX tasks_by_project ON tasks (project_id, id);
CREATE INDEX tasks_by_sort_key ON tasks (project_id, sort_key, id);
CREATE INDEX tasks_by_status ON tasks (project_id, status_id, id);
CREATE INDEX tasks_by_responsible ON tasks (project_id, responsible_id, id);
CREATE INDEX tasks_by_author ON tasks (project_id, author_id, id);
CREATE INDEX tasks_by_order ON tasks (project_id, order_id, id);
CREATE INDEX tasks_by_customer ON tasks (project_id, counterparty_id, id);
CREATE INDEX tasks_by_deadline ON tasks (project_id, deadline, id);
CREATE INDEX tasks_by_moment ON tasks (project_id, created_at, id);
CREATE INDEX tasks_by_change ON tasks (project_id, updated_at, id);

-- News of tasks that employees have not been mailed yet.
CREATE TABLE task_news (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    task_id BIGINT NOT NULL,
    reason TEXT NOT NULL,
    FOREIGN KEY (project_id, user_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, task_id) REFERENCES tasks (project_id, id)
);
CREATE INDEX task_news_by_user ON task_news (user_id, id);

-- Employees who will get a mail. Every news item raises `wanted`.
CREATE TABLE task_mails (
    project_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    wanted BIGINT NOT NULL,
    requested_at TIMESTAMP NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at TIMESTAMP NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    lapses BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, project_id),
    FOREIGN KEY (project_id, user_id) REFERENCES users (project_id, id)
);
CREATE INDEX task_mails_by_next_attempt ON task_mails (next_attempt_at, user_id);
CREATE INDEX task_mails_parked ON task_mails (parked_at) WHERE parked_at IS NOT NULL;
