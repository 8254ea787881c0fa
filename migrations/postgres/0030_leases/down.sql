DROP INDEX workers_by_sight;

DROP INDEX files_parked;
ALTER TABLE files DROP COLUMN parked_reason;
ALTER TABLE files DROP COLUMN parked_at;
ALTER TABLE files DROP COLUMN leased_until;
ALTER TABLE files DROP COLUMN lease_owner;

DROP INDEX password_requests_parked;
ALTER TABLE password_requests DROP COLUMN parked_reason;
ALTER TABLE password_requests DROP COLUMN parked_at;
ALTER TABLE password_requests DROP COLUMN leased_until;
ALTER TABLE password_requests DROP COLUMN lease_owner;

DROP INDEX jobs_parked;
ALTER TABLE jobs DROP COLUMN parked_reason;
ALTER TABLE jobs DROP COLUMN parked_at;

ALTER TABLE webhooks DROP COLUMN paused_until;
ALTER TABLE webhooks DROP COLUMN hangs;

DROP INDEX webhook_deliveries_leased;
DROP INDEX webhook_deliveries_due;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE status = 'pending';
DROP INDEX webhook_deliveries_parked;
ALTER TABLE webhook_deliveries DROP COLUMN parked_reason;
ALTER TABLE webhook_deliveries DROP COLUMN parked_at;
