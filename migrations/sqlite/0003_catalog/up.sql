CREATE TABLE categories (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    parent_id BIGINT REFERENCES categories (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    code BIGINT NOT NULL,
    description TEXT,
    photo TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, code)
);
CREATE INDEX categories_by_parent ON categories (project_id, parent_id, id);
CREATE INDEX categories_by_name ON categories (project_id, name_key);

CREATE TABLE application_categories (
    application_id BIGINT NOT NULL REFERENCES applications (id),
    category_id BIGINT NOT NULL REFERENCES categories (id),
    position BIGINT NOT NULL,
    PRIMARY KEY (application_id, category_id)
);
CREATE INDEX application_categories_by_position ON application_categories (application_id, position, category_id);

CREATE TABLE brands (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    photo TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, name_key)
);

CREATE TABLE application_brands (
    application_id BIGINT NOT NULL REFERENCES applications (id),
    brand_id BIGINT NOT NULL REFERENCES brands (id),
    priority BIGINT NOT NULL,
    PRIMARY KEY (application_id, brand_id)
);
CREATE INDEX application_brands_by_priority ON application_brands (application_id, priority, brand_id);

CREATE TABLE tags (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    photo TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX tags_by_project ON tags (project_id, id);

-- Goods, services and subscription plans. The price here is the card price of services and plans; goods take theirs
-- from the warehouse.
CREATE TABLE nomenclatures (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    article TEXT,
    article_key TEXT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    kind_id BIGINT NOT NULL CHECK (kind_id IN (1, 2)),
    category_id BIGINT REFERENCES categories (id),
    brand_id BIGINT REFERENCES brands (id),
    country_id BIGINT REFERENCES countries (id),
    storage_unit_id BIGINT REFERENCES storage_units (id),
    vat_id BIGINT,
    price BIGINT NOT NULL CHECK (price >= 0),
    description TEXT,
    characteristics TEXT,
    share_link TEXT,
    is_subscription BOOLEAN NOT NULL,
    billing_period_months INTEGER,
    wholesale BOOLEAN NOT NULL,
    pieces_per_pack INTEGER NOT NULL CHECK (pieces_per_pack >= 1),
    quantity_pack INTEGER NOT NULL CHECK (quantity_pack >= 1),
    views_count BIGINT NOT NULL,
    version BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, article)
);
CREATE INDEX nomenclatures_by_project ON nomenclatures (project_id, id);
CREATE INDEX nomenclatures_by_name ON nomenclatures (project_id, name_key, id);
CREATE INDEX nomenclatures_by_category ON nomenclatures (project_id, category_id, id);

CREATE TABLE nomenclature_photos (
    nomenclature_id BIGINT NOT NULL REFERENCES nomenclatures (id),
    position INTEGER NOT NULL,
    url TEXT NOT NULL,
    PRIMARY KEY (nomenclature_id, position)
);

CREATE TABLE nomenclature_tags (
    nomenclature_id BIGINT NOT NULL REFERENCES nomenclatures (id),
    tag_id BIGINT NOT NULL REFERENCES tags (id),
    PRIMARY KEY (nomenclature_id, tag_id)
);
CREATE INDEX nomenclature_tags_by_tag ON nomenclature_tags (tag_id, nomenclature_id);

CREATE TABLE warehouses (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    branch_id BIGINT NOT NULL REFERENCES branches (id),
    name TEXT NOT NULL,
    address TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX warehouses_by_project ON warehouses (project_id, id);

CREATE TABLE warehouse_applications (
    warehouse_id BIGINT NOT NULL REFERENCES warehouses (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    PRIMARY KEY (warehouse_id, application_id)
);
CREATE INDEX warehouse_applications_by_application ON warehouse_applications (application_id, warehouse_id);

-- The checks stand behind every conditional update: no reservation without stock, whatever races.
CREATE TABLE inventories (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    warehouse_id BIGINT NOT NULL REFERENCES warehouses (id),
    nomenclature_id BIGINT NOT NULL REFERENCES nomenclatures (id),
    quantity BIGINT NOT NULL,
    reserved BIGINT NOT NULL,
    price BIGINT NOT NULL CHECK (price >= 0),
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (nomenclature_id, warehouse_id),
    CHECK (reserved >= 0 AND reserved <= quantity)
);
CREATE INDEX inventories_by_project ON inventories (project_id, id);
CREATE INDEX inventories_by_warehouse ON inventories (warehouse_id, id);

-- What an application shows and sells, kept beside stock and cards in the commits that change them, so that a
-- storefront list reads one index range.
CREATE TABLE storefront_offers (
    application_id BIGINT NOT NULL REFERENCES applications (id),
    nomenclature_id BIGINT NOT NULL REFERENCES nomenclatures (id),
    category_id BIGINT,
    brand_id BIGINT,
    country_id BIGINT,
    name_key TEXT NOT NULL,
    price BIGINT NOT NULL,
    popularity BIGINT NOT NULL,
    PRIMARY KEY (application_id, nomenclature_id)
);
CREATE INDEX storefront_offers_by_item ON storefront_offers (nomenclature_id);
CREATE INDEX storefront_offers_by_category ON storefront_offers (application_id, category_id, nomenclature_id);
CREATE INDEX storefront_offers_by_category_name ON storefront_offers (application_id, category_id, name_key, nomenclature_id);
CREATE INDEX storefront_offers_by_category_price ON storefront_offers (application_id, category_id, price, nomenclature_id);
CREATE INDEX storefront_offers_by_category_popularity ON storefront_offers (application_id, category_id, popularity, nomenclature_id);
CREATE INDEX storefront_offers_by_name ON storefront_offers (application_id, name_key, nomenclature_id);
CREATE INDEX storefront_offers_by_price ON storefront_offers (application_id, price, nomenclature_id);
CREATE INDEX storefront_offers_by_popularity ON storefront_offers (application_id, popularity, nomenclature_id);

-- A discount with a code is a promo code; one without applies by itself. `value` is basis points for `percent` and
-- minor units for `fixed`.
CREATE TABLE discounts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    code TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('percent', 'fixed')),
    value BIGINT NOT NULL CHECK (value > 0),
    target TEXT NOT NULL CHECK (target IN ('cart', 'category', 'product')),
    target_id BIGINT,
    minimum_sum BIGINT NOT NULL,
    starts_at TIMESTAMP,
    ends_at TIMESTAMP,
    usage_limit BIGINT,
    customer_limit BIGINT,
    used_count BIGINT NOT NULL CHECK (used_count >= 0),
    status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, code),
    CHECK (usage_limit IS NULL OR used_count <= usage_limit)
);
CREATE INDEX discounts_by_status ON discounts (project_id, status, id);
