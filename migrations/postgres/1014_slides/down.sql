DELETE FROM role_permissions WHERE permission_id IN (SELECT id FROM permissions WHERE screen_id = 27);
DELETE FROM permissions WHERE screen_id = 27;
DELETE FROM staff_menu_items WHERE screen_id = 27;
DELETE FROM screens WHERE id = 27;
ALTER TABLE slides DROP COLUMN version;
