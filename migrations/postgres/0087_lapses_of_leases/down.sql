ALTER TABLE task_mails DROP COLUMN lapses;
ALTER TABLE files DROP COLUMN lapses;
ALTER TABLE password_requests DROP COLUMN lapses;
ALTER TABLE jobs DROP COLUMN lapses;
ALTER TABLE receipts DROP COLUMN lapses;
ALTER TABLE refunds DROP COLUMN lapses;
ALTER TABLE charges DROP COLUMN lapses;
ALTER TABLE webhook_deliveries DROP COLUMN lapses;
