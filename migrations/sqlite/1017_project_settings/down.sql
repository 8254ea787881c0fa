DELETE FROM role_permissions WHERE permission_id BETWEEN 79 AND 81;
DELETE FROM permissions WHERE id BETWEEN 79 AND 81;
UPDATE staff_menu_items SET screen_id = NULL WHERE screen_id = 28;
DELETE FROM screens WHERE id = 28;
ALTER TABLE projects DROP COLUMN version;
