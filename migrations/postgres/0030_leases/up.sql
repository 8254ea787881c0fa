-- Rows of queues: a row that cannot be read is parked, with the reason, until an operator releases it.
ALTER TABLE webhook_deliveries ADD COLUMN parked_at TIMESTAMP;
ALTER TABLE webhook_deliveries ADD COLUMN parked_reason TEXT;
CREATE INDEX webhook_deliveries_parked ON webhook_deliveries (parked_at) WHERE parked_at IS NOT NULL;

-- The due deliveries of one endpoint are one range, so that many of one endpoint are not in the way of the others.
DROP INDEX webhook_deliveries_due;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at, id)
    WHERE status = 'pending' AND parked_at IS NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (leased_until) WHERE leased_until IS NOT NULL;

-- An endpoint that does not answer in time rests, each time longer.
ALTER TABLE webhooks ADD COLUMN hangs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN paused_until TIMESTAMP;

ALTER TABLE jobs ADD COLUMN parked_at TIMESTAMP;
ALTER TABLE jobs ADD COLUMN parked_reason TEXT;
CREATE INDEX jobs_parked ON jobs (parked_at) WHERE parked_at IS NOT NULL;

ALTER TABLE password_requests ADD COLUMN lease_owner TEXT;
ALTER TABLE password_requests ADD COLUMN leased_until TIMESTAMP;
ALTER TABLE password_requests ADD COLUMN parked_at TIMESTAMP;
ALTER TABLE password_requests ADD COLUMN parked_reason TEXT;
CREATE INDEX password_requests_parked ON password_requests (parked_at) WHERE parked_at IS NOT NULL;

ALTER TABLE files ADD COLUMN lease_owner TEXT;
ALTER TABLE files ADD COLUMN leased_until TIMESTAMP;
ALTER TABLE files ADD COLUMN parked_at TIMESTAMP;
ALTER TABLE files ADD COLUMN parked_reason TEXT;
CREATE INDEX files_parked ON files (parked_at) WHERE parked_at IS NOT NULL;

-- Workers that died are found by when they were last seen.
CREATE INDEX workers_by_sight ON workers (seen_at);
