DROP INDEX orders_by_promo_code;
DROP INDEX files_by_order;
ALTER TABLE files DROP COLUMN order_id;
