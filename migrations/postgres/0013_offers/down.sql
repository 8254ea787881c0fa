ALTER TABLE storefront_offers DROP COLUMN photos;
ALTER TABLE storefront_offers DROP COLUMN quantity_pack;
ALTER TABLE storefront_offers DROP COLUMN pieces_per_pack;
ALTER TABLE storefront_offers DROP COLUMN wholesale;
ALTER TABLE storefront_offers DROP COLUMN article;
ALTER TABLE storefront_offers DROP COLUMN name;
ALTER TABLE storefront_offers DROP COLUMN kind_id;
