-- The place of a name among others, as bytes of a collation: case and accents count only between names that are equal
-- otherwise. Written with the name; rows without are filled in by `kontor migrate`, as is what items are found by, which
-- folds accents now.
ALTER TABLE nomenclatures ADD COLUMN sort_key BYTEA;
ALTER TABLE storefront_offers ADD COLUMN sort_key BYTEA;
ALTER TABLE categories ADD COLUMN sort_key BYTEA;
ALTER TABLE brands ADD COLUMN sort_key BYTEA;
ALTER TABLE warehouses ADD COLUMN sort_key BYTEA;
CREATE INDEX nomenclatures_by_sort_key ON nomenclatures (project_id, sort_key, id);
CREATE INDEX storefront_offers_by_sort_key ON storefront_offers (application_id, sort_key, nomenclature_id);
DROP INDEX storefront_offers_by_category_name;
CREATE INDEX storefront_offers_by_category_sort_key ON storefront_offers (application_id, category_id, sort_key, nomenclature_id);
CREATE INDEX categories_by_sort_key ON categories (project_id, sort_key, id);
CREATE INDEX brands_by_sort_key ON brands (project_id, sort_key, id);
CREATE INDEX warehouses_by_sort_key ON warehouses (project_id, sort_key, id);
UPDATE nomenclatures SET search_text = NULL;
