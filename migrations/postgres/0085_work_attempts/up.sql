-- How often a worker took a subscription since it was last changed: what fails again and again is put off, then parked.
ALTER TABLE subscriptions ADD COLUMN work_attempts BIGINT NOT NULL DEFAULT 0;
