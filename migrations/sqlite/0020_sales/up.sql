-- `name_key` is the name in lower case, which `kontor migrate` fills in. `used_amount` is what the orders counted by `used_count` were let off by the
-- code, in minor units. `version` grows with every change by staff, so that an order priced by other terms is refused.
ALTER TABLE discounts ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
ALTER TABLE discounts ADD COLUMN description TEXT;
ALTER TABLE discounts ADD COLUMN used_amount BIGINT NOT NULL DEFAULT 0;
ALTER TABLE discounts ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
UPDATE discounts SET
    used_amount = (SELECT coalesce(sum(o.promo_discount), 0) FROM discount_usages u
        JOIN orders o ON o.id = u.order_id WHERE u.discount_id = discounts.id);
CREATE INDEX discounts_by_project ON discounts (project_id, id);
CREATE INDEX discounts_by_target ON discounts (project_id, status, target, target_id);
CREATE INDEX discount_usages_by_order ON discount_usages (discount_id, order_id);
CREATE INDEX orders_by_discount ON orders (discount_id) WHERE discount_id IS NOT NULL;

-- A named campaign and what it shows; it changes no price by itself.
CREATE TABLE promotions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    description TEXT,
    photo TEXT,
    starts_at TIMESTAMP,
    ends_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX promotions_by_project ON promotions (project_id, id);

CREATE TABLE promotion_discounts (
    promotion_id BIGINT NOT NULL REFERENCES promotions (id) ON DELETE CASCADE,
    discount_id BIGINT NOT NULL REFERENCES discounts (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    PRIMARY KEY (promotion_id, discount_id)
);
CREATE INDEX promotion_discounts_by_discount ON promotion_discounts (discount_id);

CREATE TABLE promotion_nomenclatures (
    promotion_id BIGINT NOT NULL REFERENCES promotions (id) ON DELETE CASCADE,
    nomenclature_id BIGINT NOT NULL REFERENCES nomenclatures (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    PRIMARY KEY (promotion_id, nomenclature_id)
);
CREATE INDEX promotion_nomenclatures_by_nomenclature ON promotion_nomenclatures (nomenclature_id);

INSERT INTO dictionary_items (dictionary, id, name, created_at) VALUES
    ('sales_strategies', 1, 'Retail', '2026-01-01 00:00:00'),
    ('sales_strategies', 2, 'Wholesale', '2026-01-01 00:00:00'),
    ('sales_strategies', 3, 'Subscription', '2026-01-01 00:00:00'),
    ('sales_channels', 1, 'Website', '2026-01-01 00:00:00'),
    ('sales_channels', 2, 'Mobile app', '2026-01-01 00:00:00'),
    ('sales_channels', 3, 'Messenger mini-app', '2026-01-01 00:00:00'),
    ('sales_channels', 4, 'Shop', '2026-01-01 00:00:00'),
    ('sales_channels', 5, 'Phone', '2026-01-01 00:00:00');
