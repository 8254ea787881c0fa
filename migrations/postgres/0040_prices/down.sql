UPDATE nomenclatures SET price = 0 WHERE price IS NULL;
ALTER TABLE nomenclatures ALTER COLUMN price SET NOT NULL;
UPDATE inventories SET price = 0 WHERE price IS NULL;
ALTER TABLE inventories ALTER COLUMN price SET NOT NULL;
