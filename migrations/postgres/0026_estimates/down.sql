DROP STATISTICS inventories_places;
DROP STATISTICS nomenclatures_places;
DROP STATISTICS storefront_offers_places;
