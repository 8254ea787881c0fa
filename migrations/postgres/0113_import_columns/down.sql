ALTER TABLE jobs DROP COLUMN layout;
ALTER TABLE jobs DROP COLUMN reading;
DROP TABLE import_columns;
