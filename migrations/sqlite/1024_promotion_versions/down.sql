ALTER TABLE promotions DROP COLUMN version;
