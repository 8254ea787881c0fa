-- Staff change the settings of their project: permissions, and the version for concurrent changes.
ALTER TABLE projects ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

INSERT INTO screens (id, name) VALUES (28, 'settings');
INSERT INTO permissions (id, screen_id, name, description) VALUES
    (79, 28, 'view-settings', 'See settings'),
    (80, 28, 'create-settings', 'Create settings'),
    (81, 28, 'edit-settings', 'Create, change and delete settings');
