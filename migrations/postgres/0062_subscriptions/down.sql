DROP TABLE method_bindings;
ALTER TABLE charges DROP COLUMN departing_until;
ALTER TABLE orders DROP COLUMN subscription_id;
DROP TABLE subscription_settings;
DROP TABLE subscription_events;
DROP TABLE subscription_payments;
DROP TABLE subscription_consents;
DROP TABLE subscriptions;
