DROP INDEX webhook_deliveries_by_event;
DROP INDEX webhook_deliveries_settled;
DROP INDEX outbox_events_dispatched;
DROP TABLE client_sessions;
DROP TABLE introspection_clients;
DROP INDEX counterparties_by_handle;
ALTER TABLE counterparties DROP COLUMN handle;
