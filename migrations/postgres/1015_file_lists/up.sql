-- Lists of files for staff: the name in lower case for searches, and an index for each order and filter. `kontor migrate` fills
-- in the names of earlier files.
ALTER TABLE files ADD COLUMN name_key TEXT COLLATE "C";

CREATE INDEX files_ready ON files (project_id, id) WHERE state = 'ready';
CREATE INDEX files_by_name ON files (project_id, name_key, id) WHERE state = 'ready';
CREATE INDEX files_by_moment ON files (project_id, created_at, id) WHERE state = 'ready';
CREATE INDEX files_by_size ON files (project_id, size, id) WHERE state = 'ready';
CREATE INDEX files_by_type ON files (project_id, file_type_id, id) WHERE state = 'ready';
CREATE INDEX files_by_creator ON files (project_id, creator_id, id) WHERE state = 'ready';
