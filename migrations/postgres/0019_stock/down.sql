DROP TABLE integration_parameters;
DROP TABLE integration_links;
DROP TABLE integrations;
DROP INDEX reservations_by_project;
ALTER TABLE inventories DROP COLUMN deleted_at;
ALTER TABLE warehouses DROP COLUMN deleted_at;
DROP TABLE stock_movements;
ALTER TABLE warehouses ALTER COLUMN name TYPE TEXT COLLATE "default";
