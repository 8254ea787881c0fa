-- Subscriptions: consents, claims, payments, history and settings.

-- `nomenclature_id` to `saved_method_id` are the consented terms of the open or next charge; `next_consent_id` has terms that
-- begin with the charge after it. Periods are counted from `schedule`; `period_...` is the last paid one, `unpaid_period` the
-- number of the past-due one. A worker looks at the row at `wake_at`.
CREATE TABLE subscriptions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT,
    counterparty_id BIGINT NOT NULL,
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
    -- Number of the next period that the customer was notified about, and the kind of notice: charge or end.
    told_period BIGINT,
    told_of TEXT,
    -- Numbers of missed periods to collect, as a JSON list.
    missed TEXT,
    -- Attempts of workers since the last change. Repeated failures are delayed, then parked.
    work_attempts BIGINT NOT NULL DEFAULT 0,
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id),
    CHECK ((status = 'canceled') = (canceled_at IS NOT NULL)),
    CHECK ((period_number IS NULL) = (period_end IS NULL) AND (period_number IS NULL) = (period_start IS NULL))
);
CREATE INDEX subscriptions_by_customer ON subscriptions (counterparty_id, id);
CREATE UNIQUE INDEX subscriptions_by_project ON subscriptions (project_id, id);
CREATE INDEX subscriptions_due ON subscriptions (wake_at, id) WHERE wake_at IS NOT NULL;
CREATE INDEX subscriptions_parked ON subscriptions (parked_at) WHERE parked_at IS NOT NULL;
CREATE INDEX subscriptions_by_status ON subscriptions (project_id, status, id);
CREATE INDEX subscriptions_by_charge ON subscriptions (project_id, next_charge_at, id) WHERE next_charge_at IS NOT NULL;
CREATE INDEX subscriptions_parked_of_project ON subscriptions (project_id, id) WHERE parked IS NOT NULL;
CREATE INDEX subscriptions_by_change ON subscriptions (project_id, updated_at, id);

-- Consents of customers; rows never change.
CREATE TABLE subscription_consents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    plan_slug TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    billing_months INTEGER NOT NULL CHECK (billing_months BETWEEN 1 AND 24),
    saved_method_id BIGINT,
    text_version TEXT NOT NULL,
    address TEXT,
    application_id BIGINT,
    created_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, subscription_id) REFERENCES subscriptions (project_id, id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id)
);
CREATE INDEX subscription_consents_by_subscription ON subscription_consents (subscription_id, id);

-- A customer has each plan, current or from the next period, in one subscription. A claim counts while its subscription is not
-- canceled and names the plan; other claims are replaced.
CREATE TABLE subscription_claims (
    project_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    nomenclature_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    PRIMARY KEY (counterparty_id, nomenclature_id, project_id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id),
    FOREIGN KEY (project_id, subscription_id) REFERENCES subscriptions (project_id, id)
);

-- Attempts to charge a period. The row is committed with its order and its charge before the acquirer is called.
CREATE TABLE subscription_payments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    period BIGINT NOT NULL CHECK (period >= 1),
    number BIGINT NOT NULL CHECK (number >= 1),
    origin TEXT NOT NULL CHECK (origin IN ('first', 'renewal', 'recovery', 'missed')),
    planned BOOLEAN NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('processing', 'needs_reconciliation', 'succeeded', 'failed')),
    order_id BIGINT NOT NULL,
    charge_id BIGINT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    saved_method_id BIGINT,
    reason TEXT,
    started_at TIMESTAMP NOT NULL,
    ended_at TIMESTAMP,
    -- Terms of the attempt. A failed attempt is repeated while they are unchanged.
    nomenclature_id BIGINT,
    billing_months INTEGER,
    UNIQUE (subscription_id, period, number, project_id),
    FOREIGN KEY (project_id, subscription_id) REFERENCES subscriptions (project_id, id),
    FOREIGN KEY (project_id, order_id) REFERENCES orders (project_id, id),
    FOREIGN KEY (project_id, charge_id) REFERENCES charges (project_id, id),
    CHECK ((ended_at IS NULL) = (state IN ('processing', 'needs_reconciliation')))
);
-- One open attempt per subscription. A period is paid once.
CREATE UNIQUE INDEX subscription_payments_one_open ON subscription_payments (subscription_id, project_id)
    WHERE state IN ('processing', 'needs_reconciliation');
CREATE UNIQUE INDEX subscription_payments_one_paid ON subscription_payments (subscription_id, period, project_id)
    WHERE state = 'succeeded';
CREATE INDEX subscription_payments_by_subscription ON subscription_payments (subscription_id, id);
CREATE INDEX subscription_payments_by_charge ON subscription_payments (charge_id);
CREATE INDEX subscription_payments_by_method ON subscription_payments (saved_method_id, started_at)
    WHERE saved_method_id IS NOT NULL;

-- History of subscriptions.
CREATE TABLE subscription_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    actor TEXT NOT NULL,
    actor_id BIGINT,
    event TEXT NOT NULL,
    status TEXT NOT NULL,
    changes TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, subscription_id) REFERENCES subscriptions (project_id, id)
);
CREATE INDEX subscription_events_by_subscription ON subscription_events (subscription_id, id);

-- Charging policy of a project. A project without a row uses the defaults.
CREATE TABLE subscription_settings (
    project_id BIGINT NOT NULL PRIMARY KEY REFERENCES projects (id),
    policy TEXT NOT NULL,
    updated_at TIMESTAMP NOT NULL
);

-- Changes of the payment method of a subscription: a small payment saves the new method and is refunded. The state is that of
-- the charge. The row keeps the consent until the method is known.
CREATE TABLE method_bindings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    saved_method_id BIGINT,
    text_version TEXT NOT NULL,
    address TEXT,
    expires_at TIMESTAMP NOT NULL,
    created_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, subscription_id) REFERENCES subscriptions (project_id, id)
);
CREATE INDEX method_bindings_by_subscription ON method_bindings (subscription_id, id);

-- Renewals that the acquirer knows and a restored database does not. The next attempt for the period takes them over.
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
