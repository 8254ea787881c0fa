-- The deliveries of all webhooks of a project, and those in one state, in the order of their numbers.
CREATE INDEX webhook_deliveries_by_project ON webhook_deliveries (project_id, id);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries (project_id, status, id);
