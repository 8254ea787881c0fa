DROP TABLE workers;
DROP TABLE webhook_deliveries;
DROP TABLE webhooks;
DROP TABLE outbox_events;
