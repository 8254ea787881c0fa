DROP TABLE known_renewals;
DROP TABLE method_bindings;
DROP TABLE subscription_settings;
DROP TABLE subscription_events;
DROP TABLE subscription_payments;
DROP TABLE subscription_claims;
DROP TABLE subscription_consents;
DROP TABLE subscriptions;
