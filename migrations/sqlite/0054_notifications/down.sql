DROP TABLE notifications;
ALTER TABLE projects DROP COLUMN language;
