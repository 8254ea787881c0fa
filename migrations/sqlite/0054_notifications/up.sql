-- In which language a project speaks to its customers.
ALTER TABLE projects ADD COLUMN language TEXT NOT NULL DEFAULT 'ru' CHECK (language IN ('ru', 'en'));

-- What customers were told, in the words of that moment. `code` says what happened, `amount` is the sum it was about. They
-- go when the customer leaves, and after 180 days.
CREATE TABLE notifications (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    order_id BIGINT NOT NULL REFERENCES orders (id),
    code TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount >= 0),
    language TEXT NOT NULL CHECK (language IN ('ru', 'en')),
    title TEXT NOT NULL,
    body TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX notifications_by_customer ON notifications (counterparty_id, application_id, id);
CREATE INDEX notifications_by_moment ON notifications (created_at);
