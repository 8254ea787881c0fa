-- A category belongs to one project, a warehouse too. PostgreSQL takes such columns for independent of each other: among two
-- thousand projects it expects one row of a category and reads all that there are, in any order, to find the cheapest.
CREATE STATISTICS storefront_offers_places (dependencies, ndistinct) ON application_id, category_id FROM storefront_offers;
CREATE STATISTICS nomenclatures_places (dependencies, ndistinct) ON project_id, category_id FROM nomenclatures;
CREATE STATISTICS inventories_places (dependencies, ndistinct) ON project_id, warehouse_id FROM inventories;
