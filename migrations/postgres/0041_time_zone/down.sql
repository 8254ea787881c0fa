ALTER TABLE projects DROP COLUMN time_zone;
