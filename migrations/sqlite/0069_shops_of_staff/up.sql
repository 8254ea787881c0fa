-- Shops as staff keep them. `name_key` and `sort_key` of those from before are filled in by `kontor migrate`.
ALTER TABLE shops ADD COLUMN time_zone TEXT;
ALTER TABLE shops ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
ALTER TABLE shops ADD COLUMN sort_key BLOB;
ALTER TABLE shops ADD COLUMN deleted_at TIMESTAMP;
ALTER TABLE shops ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
CREATE INDEX shops_by_sort_key ON shops (project_id, sort_key, id);
CREATE INDEX shops_by_branch ON shops (project_id, branch_id, id);
CREATE INDEX shops_by_moment ON shops (project_id, created_at, id);
CREATE INDEX shops_by_change ON shops (project_id, updated_at, id);

-- Opening hours of every week. Times are of the shop's clocks; who closes earlier than they open closes on the next day.
CREATE TABLE shop_hours (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    shop_id BIGINT NOT NULL REFERENCES shops (id),
    weekday BIGINT NOT NULL CHECK (weekday BETWEEN 1 AND 7),
    opens TEXT NOT NULL,
    closes TEXT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1
);
CREATE INDEX shop_hours_by_shop ON shop_hours (shop_id, weekday, opens);

-- Days on which a shop stays closed.
CREATE TABLE shop_holidays (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    shop_id BIGINT NOT NULL REFERENCES shops (id),
    day TEXT NOT NULL,
    name TEXT,
    is_yearly BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX shop_holidays_by_day ON shop_holidays (shop_id, day);

-- Other hours on one day; without times it stays closed.
CREATE TABLE shop_exceptions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    shop_id BIGINT NOT NULL REFERENCES shops (id),
    day TEXT NOT NULL,
    opens TEXT,
    closes TEXT,
    note TEXT,
    version BIGINT NOT NULL DEFAULT 1,
    CHECK ((opens IS NULL) = (closes IS NULL))
);
CREATE INDEX shop_exceptions_by_shop ON shop_exceptions (shop_id, day, opens);
