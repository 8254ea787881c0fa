DROP INDEX pages_found;
DROP INDEX pages_unsearched;
ALTER TABLE pages DROP COLUMN searched_version;
