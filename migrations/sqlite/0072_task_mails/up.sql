-- What employees are yet to be told of tasks.
CREATE TABLE task_news (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    user_id BIGINT NOT NULL REFERENCES users (id),
    task_id BIGINT NOT NULL REFERENCES tasks (id),
    reason TEXT NOT NULL
);
CREATE INDEX task_news_by_user ON task_news (user_id, id);

-- Who is to get a mail of them. `wanted` is raised by everything there is to tell.
CREATE TABLE task_mails (
    user_id BIGINT NOT NULL PRIMARY KEY REFERENCES users (id),
    wanted BIGINT NOT NULL,
    requested_at TIMESTAMP NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at TIMESTAMP NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    parked_at TIMESTAMP,
    parked_reason TEXT
);
CREATE INDEX task_mails_by_next_attempt ON task_mails (next_attempt_at, user_id);
CREATE INDEX task_mails_parked ON task_mails (parked_at) WHERE parked_at IS NOT NULL;
