-- At which version of a page its texts were written to the index, which knows four letters together, too, from now on.
-- `kontor migrate` writes those anew that an older binary wrote.
ALTER TABLE pages ADD COLUMN searched_version BIGINT;
CREATE INDEX pages_unsearched ON pages (id) WHERE searched_version IS DISTINCT FROM version;

-- What a search shows, counts and sorts pages by, without their texts, which stand before it in every row.
CREATE INDEX pages_found ON pages (id, project_id, is_active, page_type_id, views_count, created_at, updated_at);
