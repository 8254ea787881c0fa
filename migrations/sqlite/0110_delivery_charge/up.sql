-- Whether orders include the price of their delivery.
ALTER TABLE projects ADD COLUMN charges_delivery BOOLEAN NOT NULL DEFAULT FALSE;

-- The delivery price of an order, beside the price of its lines, and its VAT on receipts.
ALTER TABLE orders ADD COLUMN delivery_price BIGINT NOT NULL DEFAULT 0 CHECK (delivery_price >= 0);
ALTER TABLE orders ADD COLUMN delivery_vat_code INTEGER CHECK (delivery_vat_code BETWEEN 1 AND 12);
