-- Columns of imports by the headers of files, as JSON, per project and kind of import.
CREATE TABLE import_columns (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL CHECK (kind IN ('nomenclatures_import', 'inventories_upload')),
    mapping TEXT NOT NULL,
    PRIMARY KEY (project_id, kind)
);

-- Choices about the reading of a job's file, as JSON, unless the defaults count; and the place of its rows in the file.
ALTER TABLE jobs ADD COLUMN reading TEXT;
ALTER TABLE jobs ADD COLUMN layout TEXT;
