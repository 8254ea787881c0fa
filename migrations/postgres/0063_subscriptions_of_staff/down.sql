DELETE FROM role_permissions WHERE permission_id IN (SELECT id FROM permissions WHERE screen_id = 25);
DELETE FROM permissions WHERE screen_id = 25;
DELETE FROM screens WHERE id = 25;
DROP INDEX subscriptions_parked_of_project;
DROP INDEX subscriptions_by_charge;
DROP INDEX subscriptions_by_status;
ALTER TABLE subscriptions DROP COLUMN missed;
ALTER TABLE subscriptions DROP COLUMN told_of;
ALTER TABLE subscriptions DROP COLUMN told_period;
