-- Items, categories, brands, warehouses, stock levels, storefronts, discounts and promotions.

CREATE TABLE categories (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    parent_id BIGINT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    code BIGINT NOT NULL,
    description TEXT,
    photo TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    sort_key BLOB,
    version BIGINT NOT NULL DEFAULT 1,
    UNIQUE (project_id, code),
    FOREIGN KEY (project_id, parent_id) REFERENCES categories (project_id, id)
);
CREATE INDEX categories_by_parent ON categories (project_id, parent_id, id);
CREATE INDEX categories_by_name ON categories (project_id, name_key);
CREATE UNIQUE INDEX categories_by_project ON categories (project_id, id);
CREATE INDEX categories_by_sort_key ON categories (project_id, sort_key, id);

CREATE TABLE application_categories (
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    category_id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (application_id, category_id, project_id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, category_id) REFERENCES categories (project_id, id)
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
    sort_key BLOB,
    version BIGINT NOT NULL DEFAULT 1,
    UNIQUE (project_id, name_key)
);
CREATE UNIQUE INDEX brands_by_project ON brands (project_id, id);
CREATE INDEX brands_by_sort_key ON brands (project_id, sort_key, id);

CREATE TABLE application_brands (
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    brand_id BIGINT NOT NULL,
    priority BIGINT NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (application_id, brand_id, project_id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, brand_id) REFERENCES brands (project_id, id)
);
CREATE INDEX application_brands_by_priority ON application_brands (application_id, priority, brand_id);

CREATE TABLE tags (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    photo TEXT,
    created_at TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX tags_by_project ON tags (project_id, id);

-- Items: goods, services and subscription plans. `price` applies to services and plans; goods have prices per warehouse. NULL
-- means that there is no price and the item is not sold.
CREATE TABLE nomenclatures (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    article TEXT,
    article_key TEXT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    kind_id BIGINT NOT NULL CHECK (kind_id IN (1, 2)),
    category_id BIGINT,
    brand_id BIGINT,
    country_id BIGINT REFERENCES countries (id),
    storage_unit_id BIGINT REFERENCES storage_units (id),
    vat_id BIGINT,
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
    -- Every word of name and article in lower case, each after a space. A migration may set it to NULL: `kontor migrate` fills it
    -- in, together with `article_search` and `sort_key`.
    search_text TEXT,
    -- Letters and digits of the article.
    article_search TEXT,
    -- From the dictionary `nomenclature_types`.
    type_id BIGINT,
    price BIGINT CHECK (price >= 0),
    -- Bytes by which the name is sorted; case and accents count only between otherwise equal names.
    sort_key BLOB,
    UNIQUE (project_id, article),
    FOREIGN KEY (project_id, category_id) REFERENCES categories (project_id, id),
    FOREIGN KEY (project_id, brand_id) REFERENCES brands (project_id, id)
);
CREATE UNIQUE INDEX nomenclatures_by_project ON nomenclatures (project_id, id);
CREATE INDEX nomenclatures_by_name ON nomenclatures (project_id, name_key, id);
CREATE INDEX nomenclatures_by_category ON nomenclatures (project_id, category_id, id);
CREATE INDEX nomenclatures_by_article_search ON nomenclatures (project_id, article_search, id);
CREATE INDEX nomenclatures_without_search ON nomenclatures (id) WHERE search_text IS NULL;
-- A project has few plans among many items.
CREATE INDEX nomenclatures_plans ON nomenclatures (project_id, id) WHERE is_subscription = TRUE;
CREATE INDEX nomenclatures_by_sort_key ON nomenclatures (project_id, sort_key, id);
CREATE INDEX nomenclatures_by_change ON nomenclatures (project_id, updated_at, id);

-- Three letters each of every word, and six of long ones, after the id of the project: a search reads only entries of its project.
-- `rowid` is the id of the item. Written in the transactions that write items.
CREATE VIRTUAL TABLE nomenclature_search USING fts5 (
    grams, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_-'"
);

CREATE TABLE nomenclature_photos (
    project_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    position INTEGER NOT NULL,
    url TEXT NOT NULL,
    PRIMARY KEY (nomenclature_id, position, project_id),
    FOREIGN KEY (project_id, nomenclature_id) REFERENCES nomenclatures (project_id, id)
);

CREATE TABLE nomenclature_tags (
    project_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    tag_id BIGINT NOT NULL,
    PRIMARY KEY (nomenclature_id, tag_id, project_id),
    FOREIGN KEY (project_id, nomenclature_id) REFERENCES nomenclatures (project_id, id),
    FOREIGN KEY (project_id, tag_id) REFERENCES tags (project_id, id)
);
CREATE INDEX nomenclature_tags_by_tag ON nomenclature_tags (tag_id, nomenclature_id);

-- Subscription plans that an application offers. They are removed with the plan.
CREATE TABLE subscription_nomenclatures (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    plan_slug TEXT NOT NULL,
    position BIGINT NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    version BIGINT NOT NULL DEFAULT 1,
    UNIQUE (application_id, nomenclature_id, project_id),
    UNIQUE (application_id, plan_slug, project_id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, nomenclature_id) REFERENCES nomenclatures (project_id, id) ON DELETE CASCADE
);
CREATE INDEX subscription_nomenclatures_by_position ON subscription_nomenclatures (application_id, position, id);
CREATE INDEX subscription_nomenclatures_by_item ON subscription_nomenclatures (nomenclature_id);

CREATE TABLE warehouses (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    branch_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    address TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- Deleting a warehouse deletes its empty stock levels. Orders and the stock ledger still refer to both.
    deleted_at TIMESTAMP,
    sort_key BLOB,
    version BIGINT NOT NULL DEFAULT 1,
    FOREIGN KEY (project_id, branch_id) REFERENCES branches (project_id, id)
);
CREATE UNIQUE INDEX warehouses_by_project ON warehouses (project_id, id);
CREATE INDEX warehouses_by_sort_key ON warehouses (project_id, sort_key, id);
CREATE INDEX warehouses_of_branch ON warehouses (branch_id);

CREATE TABLE warehouse_applications (
    project_id BIGINT NOT NULL,
    warehouse_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    PRIMARY KEY (warehouse_id, application_id, project_id),
    FOREIGN KEY (project_id, warehouse_id) REFERENCES warehouses (project_id, id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);
CREATE INDEX warehouse_applications_by_application ON warehouse_applications (application_id, warehouse_id);

-- Warehouses whose links to applications changed. Offers reflect the change for stock levels up to `after_id` only.
CREATE TABLE shelving (
    warehouse_id BIGINT NOT NULL,
    project_id BIGINT NOT NULL,
    after_id BIGINT NOT NULL,
    PRIMARY KEY (warehouse_id, project_id),
    FOREIGN KEY (project_id, warehouse_id) REFERENCES warehouses (project_id, id)
);

-- Stock levels. The check guards every conditional update: concurrent writes cannot reserve more than there is.
CREATE TABLE inventories (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    warehouse_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    reserved BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    deleted_at TIMESTAMP,
    price BIGINT CHECK (price >= 0),
    version BIGINT NOT NULL DEFAULT 1,
    UNIQUE (nomenclature_id, warehouse_id, project_id),
    FOREIGN KEY (project_id, warehouse_id) REFERENCES warehouses (project_id, id),
    FOREIGN KEY (project_id, nomenclature_id) REFERENCES nomenclatures (project_id, id),
    CHECK (reserved >= 0 AND reserved <= quantity)
);
CREATE UNIQUE INDEX inventories_by_project ON inventories (project_id, id);
CREATE INDEX inventories_by_warehouse ON inventories (warehouse_id, id);
CREATE INDEX inventories_by_change ON inventories (project_id, updated_at, id);

-- Stock ledger: every change of quantity, reservation and price. `quantity` and `reserved` are differences, `..._after` the new
-- figures, as in `inventories`. Each transaction that changes a stock level adds a row. Prices are set if the price changed.
CREATE TABLE stock_movements (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    inventory_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    warehouse_id BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    reserved BIGINT NOT NULL,
    quantity_after BIGINT NOT NULL,
    reserved_after BIGINT NOT NULL,
    price_before BIGINT,
    price_after BIGINT,
    reason TEXT NOT NULL CHECK (reason IN
        ('opening', 'creation', 'edit', 'upload', 'reservation', 'release', 'sale', 'correction', 'return', 'write_off')),
    source TEXT CHECK (source IN ('order', 'job')),
    source_id BIGINT,
    actor TEXT NOT NULL CHECK (actor IN ('customer', 'user', 'system')),
    actor_id BIGINT,
    created_at TIMESTAMP NOT NULL,
    -- Comment of the employee who corrected the stock level.
    comment TEXT,
    FOREIGN KEY (project_id, inventory_id) REFERENCES inventories (project_id, id),
    CHECK ((source IS NULL) = (source_id IS NULL))
);
CREATE INDEX stock_movements_by_inventory ON stock_movements (project_id, inventory_id, id);

-- Read model of the storefront, updated in the transactions that change stock and items. It holds everything that a list shows,
-- so that a page reads one index range. `photos` has one address per line, in order.
CREATE TABLE storefront_offers (
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    category_id BIGINT,
    brand_id BIGINT,
    country_id BIGINT,
    name_key TEXT NOT NULL,
    price BIGINT NOT NULL,
    popularity BIGINT NOT NULL,
    kind_id BIGINT NOT NULL DEFAULT 2,
    name TEXT NOT NULL DEFAULT '',
    article TEXT,
    wholesale BOOLEAN NOT NULL DEFAULT FALSE,
    pieces_per_pack INTEGER NOT NULL DEFAULT 1,
    quantity_pack INTEGER NOT NULL DEFAULT 1,
    photos TEXT,
    sort_key BLOB,
    PRIMARY KEY (application_id, nomenclature_id, project_id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, nomenclature_id) REFERENCES nomenclatures (project_id, id)
);
CREATE INDEX storefront_offers_by_item ON storefront_offers (nomenclature_id);
CREATE INDEX storefront_offers_by_category ON storefront_offers (application_id, category_id, nomenclature_id);
CREATE INDEX storefront_offers_by_category_price
    ON storefront_offers (application_id, category_id, price, nomenclature_id);
CREATE INDEX storefront_offers_by_category_popularity
    ON storefront_offers (application_id, category_id, popularity, nomenclature_id);
CREATE INDEX storefront_offers_by_name ON storefront_offers (application_id, name_key, nomenclature_id);
CREATE INDEX storefront_offers_by_price ON storefront_offers (application_id, price, nomenclature_id);
CREATE INDEX storefront_offers_by_popularity ON storefront_offers (application_id, popularity, nomenclature_id);
CREATE INDEX storefront_offers_by_sort_key ON storefront_offers (application_id, sort_key, nomenclature_id);
CREATE INDEX storefront_offers_by_category_sort_key
    ON storefront_offers (application_id, category_id, sort_key, nomenclature_id);

-- Number of offers per application and category, because counting a million rows is slow. Category 0 is the total. Slots of one
-- category are added up: concurrent writers use different slots and do not wait for each other.
CREATE TABLE offer_counts (
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    category_id BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    total BIGINT NOT NULL,
    PRIMARY KEY (application_id, category_id, slot, project_id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);

-- A discount with a code is a promo code; one without applies automatically. `value` is in basis points for `percent` and in
-- minor units for `fixed`. `used_amount` is the promo discount of all orders in `used_count`, in minor units.
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
    name_key TEXT NOT NULL DEFAULT '',
    description TEXT,
    used_amount BIGINT NOT NULL DEFAULT 0,
    version BIGINT NOT NULL DEFAULT 1,
    UNIQUE (project_id, code),
    CHECK (usage_limit IS NULL OR used_count <= usage_limit)
);
CREATE INDEX discounts_by_status ON discounts (project_id, status, id);
CREATE UNIQUE INDEX discounts_by_project ON discounts (project_id, id);
CREATE INDEX discounts_by_target ON discounts (project_id, status, target, target_id);

-- Named campaigns with items and discounts. They do not change prices.
CREATE TABLE promotions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    description TEXT,
    photo TEXT,
    starts_at TIMESTAMP,
    ends_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    version BIGINT NOT NULL DEFAULT 1
);
CREATE UNIQUE INDEX promotions_by_project ON promotions (project_id, id);

CREATE TABLE promotion_discounts (
    project_id BIGINT NOT NULL,
    promotion_id BIGINT NOT NULL,
    discount_id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (promotion_id, discount_id, project_id),
    FOREIGN KEY (project_id, promotion_id) REFERENCES promotions (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, discount_id) REFERENCES discounts (project_id, id) ON DELETE CASCADE
);
CREATE INDEX promotion_discounts_by_discount ON promotion_discounts (discount_id);

CREATE TABLE promotion_nomenclatures (
    project_id BIGINT NOT NULL,
    promotion_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (promotion_id, nomenclature_id, project_id),
    FOREIGN KEY (project_id, promotion_id) REFERENCES promotions (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, nomenclature_id) REFERENCES nomenclatures (project_id, id) ON DELETE CASCADE
);
CREATE INDEX promotion_nomenclatures_by_nomenclature ON promotion_nomenclatures (nomenclature_id);

CREATE TABLE favourites (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, counterparty_id, nomenclature_id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id),
    FOREIGN KEY (project_id, nomenclature_id) REFERENCES nomenclatures (project_id, id)
);
CREATE INDEX favourites_by_customer ON favourites (project_id, counterparty_id, id, nomenclature_id);

-- Search history of customers. Texts that differ only in case are one row.
CREATE TABLE search_requests (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    value TEXT NOT NULL,
    value_key TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, counterparty_id, value_key),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id)
);
CREATE INDEX search_requests_by_moment ON search_requests (project_id, counterparty_id, created_at, id);
