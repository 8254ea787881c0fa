DROP TABLE agent_actions;
DROP TABLE agent_usage;
DROP TABLE agent_policies;
DELETE FROM role_permissions WHERE permission_id BETWEEN 82 AND 85;
DELETE FROM permissions WHERE id BETWEEN 82 AND 85;
UPDATE staff_menu_items SET screen_id = NULL WHERE screen_id = 29;
DELETE FROM screens WHERE id = 29;
