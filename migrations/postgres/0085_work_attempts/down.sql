ALTER TABLE subscriptions DROP COLUMN work_attempts;
