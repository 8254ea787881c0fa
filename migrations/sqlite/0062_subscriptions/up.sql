-- What customers pay for regularly. `nomenclature_id` to `saved_method_id` are the terms of the charge that is open or next, as they
-- were consented to; `next_consent_id` has others that begin with the charge after it. `schedule` is from what periods are
-- counted, `period_...` the last one that is paid, `unpaid_period` the number
-- of the one that is past due. `wake_at` is when a worker looks at it.
CREATE TABLE subscriptions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT REFERENCES applications (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    status TEXT NOT NULL CHECK (status IN ('active', 'charging', 'past_due', 'canceled')),
    nomenclature_id BIGINT NOT NULL,
    plan_slug TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    billing_months INTEGER NOT NULL CHECK (billing_months BETWEEN 1 AND 24),
    saved_method_id BIGINT,
    next_consent_id BIGINT,
    schedule TEXT,
    period_number BIGINT,
    period_start TIMESTAMP,
    period_end TIMESTAMP,
    unpaid_period BIGINT,
    next_charge_at TIMESTAMP,
    wake_at TIMESTAMP,
    canceled_at TIMESTAMP,
    parked TEXT,
    parked_at TIMESTAMP,
    version BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    CHECK ((status = 'canceled') = (canceled_at IS NOT NULL)),
    CHECK ((period_number IS NULL) = (period_end IS NULL) AND (period_number IS NULL) = (period_start IS NULL))
);
CREATE INDEX subscriptions_by_customer ON subscriptions (counterparty_id, id);
CREATE INDEX subscriptions_by_project ON subscriptions (project_id, id);
CREATE INDEX subscriptions_due ON subscriptions (wake_at, id) WHERE wake_at IS NOT NULL;
CREATE INDEX subscriptions_parked ON subscriptions (parked_at) WHERE parked_at IS NOT NULL;

-- What customers consented to, never changed afterwards.
CREATE TABLE subscription_consents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    subscription_id BIGINT NOT NULL REFERENCES subscriptions (id),
    nomenclature_id BIGINT NOT NULL,
    plan_slug TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    billing_months INTEGER NOT NULL CHECK (billing_months BETWEEN 1 AND 24),
    saved_method_id BIGINT,
    text_version TEXT NOT NULL,
    address TEXT,
    application_id BIGINT REFERENCES applications (id),
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX subscription_consents_by_subscription ON subscription_consents (subscription_id, id);

-- Attempts to charge a period. The row stands, with its order and its charge, before the acquirer is called.
CREATE TABLE subscription_payments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    subscription_id BIGINT NOT NULL REFERENCES subscriptions (id),
    period BIGINT NOT NULL CHECK (period >= 1),
    number BIGINT NOT NULL CHECK (number >= 1),
    origin TEXT NOT NULL CHECK (origin IN ('first', 'renewal', 'recovery', 'missed')),
    planned BOOLEAN NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('processing', 'needs_reconciliation', 'succeeded', 'failed')),
    order_id BIGINT NOT NULL REFERENCES orders (id),
    charge_id BIGINT NOT NULL REFERENCES charges (id),
    amount BIGINT NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    saved_method_id BIGINT,
    reason TEXT,
    started_at TIMESTAMP NOT NULL,
    ended_at TIMESTAMP,
    UNIQUE (subscription_id, period, number),
    CHECK ((ended_at IS NULL) = (state IN ('processing', 'needs_reconciliation')))
);
-- At most one attempt of a subscription is open, and a period is paid once.
CREATE UNIQUE INDEX subscription_payments_one_open ON subscription_payments (subscription_id)
    WHERE state IN ('processing', 'needs_reconciliation');
CREATE UNIQUE INDEX subscription_payments_one_paid ON subscription_payments (subscription_id, period)
    WHERE state = 'succeeded';
CREATE INDEX subscription_payments_by_subscription ON subscription_payments (subscription_id, id);
CREATE INDEX subscription_payments_by_charge ON subscription_payments (charge_id);
CREATE INDEX subscription_payments_by_method ON subscription_payments (saved_method_id, started_at)
    WHERE saved_method_id IS NOT NULL;

-- What happened to a subscription.
CREATE TABLE subscription_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    subscription_id BIGINT NOT NULL REFERENCES subscriptions (id),
    actor TEXT NOT NULL,
    actor_id BIGINT,
    event TEXT NOT NULL,
    status TEXT NOT NULL,
    changes TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX subscription_events_by_subscription ON subscription_events (subscription_id, id);

-- How a project charges; a project without a row does so by default.
CREATE TABLE subscription_settings (
    project_id BIGINT NOT NULL PRIMARY KEY REFERENCES projects (id),
    policy TEXT NOT NULL,
    updated_at TIMESTAMP NOT NULL
);

-- The order is a payment of this subscription, and of those that began with it.
ALTER TABLE orders ADD COLUMN subscription_id BIGINT;

-- Until when a request of the charge that names its saved method may be on its way.
ALTER TABLE charges ADD COLUMN departing_until TIMESTAMP;

-- Changes of the method that a subscription is charged by: the customer pays a little, which saves the new method and goes back.
-- Where one stands, its charge says. What was consented to stands here until the method is known.
CREATE TABLE method_bindings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    subscription_id BIGINT NOT NULL REFERENCES subscriptions (id),
    saved_method_id BIGINT,
    text_version TEXT NOT NULL,
    address TEXT,
    expires_at TIMESTAMP NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX method_bindings_by_subscription ON method_bindings (subscription_id, id);
