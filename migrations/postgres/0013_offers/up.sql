-- What a list tells about an offer stands in the offer itself, so that a page reads no cards and no photos. The photos
-- are addresses in the order they are shown, one per line.
ALTER TABLE storefront_offers ADD COLUMN kind_id BIGINT NOT NULL DEFAULT 2;
ALTER TABLE storefront_offers ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE storefront_offers ADD COLUMN article TEXT;
ALTER TABLE storefront_offers ADD COLUMN wholesale BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE storefront_offers ADD COLUMN pieces_per_pack INTEGER NOT NULL DEFAULT 1;
ALTER TABLE storefront_offers ADD COLUMN quantity_pack INTEGER NOT NULL DEFAULT 1;
ALTER TABLE storefront_offers ADD COLUMN photos TEXT;

UPDATE storefront_offers SET
    kind_id = n.kind_id,
    name = n.name,
    article = n.article,
    wholesale = n.wholesale,
    pieces_per_pack = n.pieces_per_pack,
    quantity_pack = n.quantity_pack,
    photos = (SELECT string_agg(p.url, '
') FROM (SELECT url FROM nomenclature_photos WHERE nomenclature_id = n.id ORDER BY position) AS p)
FROM nomenclatures n WHERE n.id = storefront_offers.nomenclature_id;
