-- Warehouses whose links to applications changed and of whose stock only a part is shown accordingly: that of the records
-- up to `after_id`.
CREATE TABLE shelving (
    warehouse_id BIGINT NOT NULL PRIMARY KEY REFERENCES warehouses (id),
    project_id BIGINT NOT NULL REFERENCES projects (id),
    after_id BIGINT NOT NULL
);
