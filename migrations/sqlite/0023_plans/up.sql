-- Which subscription plans an application offers, under which slug and in which order. A plan that goes takes its
-- assignments along.
CREATE TABLE subscription_nomenclatures (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    application_id BIGINT NOT NULL REFERENCES applications (id),
    nomenclature_id BIGINT NOT NULL REFERENCES nomenclatures (id) ON DELETE CASCADE,
    plan_slug TEXT NOT NULL,
    position BIGINT NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (application_id, nomenclature_id),
    UNIQUE (application_id, plan_slug)
);
CREATE INDEX subscription_nomenclatures_by_position ON subscription_nomenclatures (application_id, position, id);
CREATE INDEX subscription_nomenclatures_by_item ON subscription_nomenclatures (nomenclature_id);

-- A project has few plans among many items.
CREATE INDEX nomenclatures_plans ON nomenclatures (project_id, id) WHERE is_subscription = TRUE;
