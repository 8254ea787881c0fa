ALTER TABLE orders DROP COLUMN delivery_vat_code;
ALTER TABLE orders DROP COLUMN delivery_price;
ALTER TABLE projects DROP COLUMN charges_delivery;
