DROP TABLE receipts;
ALTER TABLE refunds DROP COLUMN receipt;
ALTER TABLE reservations DROP COLUMN vat_code;
DROP TABLE receipt_settings;
