-- This installation: one row. `generation` grows with every commit that is to charge a subscription, and is kept outside the
-- database, too: one that is behind was restored. `held_since` keeps such a database from charging until it was compared
-- with the acquirer.
CREATE TABLE installation (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    generation BIGINT NOT NULL,
    held_since TIMESTAMP
);
INSERT INTO installation (id, name, generation) VALUES (1, CAST(gen_random_uuid() AS TEXT), 0);

-- Renewals that the acquirer has and a restored database does not know. The next attempt for the period takes them over.
CREATE TABLE known_renewals (
    provider_payment_id TEXT NOT NULL PRIMARY KEY,
    subscription_id BIGINT NOT NULL,
    period BIGINT NOT NULL,
    number BIGINT NOT NULL,
    idempotence_key TEXT NOT NULL,
    is_canceled BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX known_renewals_by_period ON known_renewals (subscription_id, period);
