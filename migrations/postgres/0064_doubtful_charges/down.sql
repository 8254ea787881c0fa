ALTER TABLE charges DROP COLUMN contradiction;
