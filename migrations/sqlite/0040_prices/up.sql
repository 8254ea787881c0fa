-- What has no price is not sold. Until now a price that nobody had written was stored as 0; now it is NULL. A stored 0 stays
-- where it is known to have been written: by a change of the price, and by whoever made a service, a plan or stock by a
-- request, which had to name one. Elsewhere, above all where a sheet made the record, it cannot be told apart from no price.
ALTER TABLE nomenclatures ADD COLUMN written_price BIGINT CHECK (written_price >= 0);
UPDATE nomenclatures SET written_price = price;
UPDATE nomenclatures AS n SET written_price = NULL WHERE n.price = 0
    AND NOT EXISTS (SELECT 1 FROM histories h, json_each(h.changes) c
        WHERE h.project_id = n.project_id AND h.resource = 'nomenclatures' AND h.resource_id = n.id
        AND json_extract(c.value, '$.field') = 'price' AND json_extract(c.value, '$.new') = '0.00'
        AND (h.deed = 'changed'
            OR instr(h.changes, '{"field":"kind_id","old":null,"new":"1"}') > 0
            OR instr(h.changes, '{"field":"is_subscription","old":null,"new":"true"}') > 0));
ALTER TABLE nomenclatures DROP COLUMN price;
ALTER TABLE nomenclatures RENAME COLUMN written_price TO price;

ALTER TABLE inventories ADD COLUMN written_price BIGINT CHECK (written_price >= 0);
UPDATE inventories SET written_price = price;
UPDATE inventories AS i SET written_price = NULL WHERE i.price = 0
    AND NOT EXISTS (SELECT 1 FROM stock_movements m
        WHERE m.project_id = i.project_id AND m.inventory_id = i.id AND m.price_after = 0
        AND (m.reason IN ('creation', 'edit') OR m.price_before IS NOT NULL));
ALTER TABLE inventories DROP COLUMN price;
ALTER TABLE inventories RENAME COLUMN written_price TO price;

-- What the applications show, and how much of it.
DELETE FROM storefront_offers WHERE price = 0 AND NOT EXISTS (SELECT 1 FROM nomenclatures n
    WHERE n.id = storefront_offers.nomenclature_id AND n.kind_id = 1 AND n.price IS NOT NULL)
AND NOT EXISTS (SELECT 1 FROM inventories i
    JOIN warehouse_applications w ON w.warehouse_id = i.warehouse_id AND w.application_id = storefront_offers.application_id
    WHERE i.nomenclature_id = storefront_offers.nomenclature_id AND i.quantity > i.reserved AND i.price IS NOT NULL);
UPDATE storefront_offers SET price = (SELECT min(i.price) FROM inventories i
    JOIN warehouse_applications w ON w.warehouse_id = i.warehouse_id AND w.application_id = storefront_offers.application_id
    WHERE i.nomenclature_id = storefront_offers.nomenclature_id AND i.quantity > i.reserved)
WHERE price = 0 AND kind_id = 2;
DELETE FROM offer_counts;
INSERT INTO offer_counts (application_id, category_id, slot, total)
SELECT application_id, category_id, 0, count(*) FROM storefront_offers WHERE category_id IS NOT NULL
GROUP BY application_id, category_id
UNION ALL
SELECT application_id, 0, 0, count(*) FROM storefront_offers GROUP BY application_id;
