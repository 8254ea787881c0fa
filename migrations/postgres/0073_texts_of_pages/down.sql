ALTER TABLE pages DROP COLUMN searched_version;
