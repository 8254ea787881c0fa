ALTER TABLE stock_movements DROP COLUMN comment;
