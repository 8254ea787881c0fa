-- Staff manage the slides of applications: permissions, and the version for concurrent changes.
ALTER TABLE slides ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

INSERT INTO screens (id, name) VALUES (27, 'slides');
INSERT INTO permissions (id, screen_id, name, description) VALUES
    (76, 27, 'view-slides', 'See slides'),
    (77, 27, 'create-slides', 'Create slides'),
    (78, 27, 'edit-slides', 'Create, change and delete slides');
