ALTER TABLE nomenclatures ADD COLUMN known_price BIGINT NOT NULL DEFAULT 0 CHECK (known_price >= 0);
UPDATE nomenclatures SET known_price = coalesce(price, 0);
ALTER TABLE nomenclatures DROP COLUMN price;
ALTER TABLE nomenclatures RENAME COLUMN known_price TO price;
ALTER TABLE inventories ADD COLUMN known_price BIGINT NOT NULL DEFAULT 0 CHECK (known_price >= 0);
UPDATE inventories SET known_price = coalesce(price, 0);
ALTER TABLE inventories DROP COLUMN price;
ALTER TABLE inventories RENAME COLUMN known_price TO price;
