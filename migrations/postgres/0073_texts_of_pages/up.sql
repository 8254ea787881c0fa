-- At which version of a page its texts were written to the index. PostgreSQL keeps its own; only SQLite asks for it.
ALTER TABLE pages ADD COLUMN searched_version BIGINT;
