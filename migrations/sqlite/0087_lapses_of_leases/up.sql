-- How many leases of a row ran out one after the other: such rows wait for longer, then they are parked.
ALTER TABLE webhook_deliveries ADD COLUMN lapses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE charges ADD COLUMN lapses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE refunds ADD COLUMN lapses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE receipts ADD COLUMN lapses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN lapses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE password_requests ADD COLUMN lapses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE files ADD COLUMN lapses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE task_mails ADD COLUMN lapses BIGINT NOT NULL DEFAULT 0;
