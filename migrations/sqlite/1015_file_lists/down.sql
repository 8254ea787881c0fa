DROP INDEX files_by_creator;
DROP INDEX files_by_type;
DROP INDEX files_by_size;
DROP INDEX files_by_moment;
DROP INDEX files_by_name;
DROP INDEX files_ready;
ALTER TABLE files DROP COLUMN name_key;
