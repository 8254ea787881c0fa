-- The endpoints of a project are locked together when their deliveries are leased.
CREATE INDEX webhooks_by_project ON webhooks (project_id, id);
