-- Programs that keep a copy of a list read it in the order of change.
CREATE INDEX counterparties_by_change ON counterparties (project_id, updated_at, id);
CREATE INDEX inventories_by_change ON inventories (project_id, updated_at, id);
CREATE INDEX nomenclatures_by_change ON nomenclatures (project_id, updated_at, id);
CREATE INDEX orders_by_change ON orders (project_id, updated_at, id);
CREATE INDEX subscriptions_by_change ON subscriptions (project_id, updated_at, id);
