-- Menus of the staff interface.
CREATE TABLE staff_menus (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX staff_menus_by_name ON staff_menus (project_id, name);

CREATE TABLE staff_menu_items (
    menu_id BIGINT NOT NULL REFERENCES staff_menus (id),
    position BIGINT NOT NULL,
    screen_id BIGINT REFERENCES screens (id),
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    PRIMARY KEY (menu_id, position)
);

-- Whose menu one is: an employee's, or that of a project, whose employees without one see it.
CREATE TABLE staff_menu_uses (
    owner TEXT NOT NULL CHECK (owner IN ('project', 'user')),
    owner_id BIGINT NOT NULL,
    menu_id BIGINT NOT NULL REFERENCES staff_menus (id),
    PRIMARY KEY (owner, owner_id)
);
CREATE INDEX staff_menu_uses_by_menu ON staff_menu_uses (menu_id);
