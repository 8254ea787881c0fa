-- Charges, refunds, receipts, saved payment methods and verifications.

-- Attempts to take money. The row with its key is committed before the acquirer is called. `purpose` and `purpose_id` name the
-- record that follows the outcome. `refunding` is reserved for refunds with an unknown outcome.
CREATE TABLE charges (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT,
    counterparty_id BIGINT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('order', 'verification', 'subscription', 'method_binding')),
    purpose_id BIGINT NOT NULL,
    idempotence_key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('prepared', 'pending', 'succeeded', 'canceled', 'expired', 'refused')),
    provider_payment_id TEXT UNIQUE,
    amount BIGINT NOT NULL CHECK (amount > 0),
    captured BIGINT NOT NULL CHECK (captured >= 0 AND captured <= amount),
    refunded BIGINT NOT NULL CHECK (refunded >= 0),
    refunding BIGINT NOT NULL CHECK (refunding >= 0),
    request TEXT NOT NULL,
    saved_method_id BIGINT,
    confirmation_url TEXT,
    reason TEXT,
    checks INTEGER NOT NULL,
    asked_at TIMESTAMP NOT NULL,
    next_check_at TIMESTAMP,
    leased_until TIMESTAMP,
    lease_owner TEXT,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    settled_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- Time until which a request with the saved method may still be on its way.
    departing_until TIMESTAMP,
    -- First report of the acquirer that contradicts the settled state.
    contradiction TEXT,
    lapses BIGINT NOT NULL DEFAULT 0,
    -- Set until `kontor payment settle`; `contradiction` has the reason.
    concern_at TIMESTAMP,
    UNIQUE (project_id, id),
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id),
    CHECK (refunded + refunding <= captured),
    CHECK ((state = 'succeeded') = (captured > 0))
);
CREATE INDEX charges_by_purpose ON charges (purpose, purpose_id, id);
CREATE INDEX charges_by_customer ON charges (counterparty_id, id);
CREATE INDEX charges_by_method ON charges (saved_method_id, id) WHERE saved_method_id IS NOT NULL;
CREATE INDEX charges_due ON charges (next_check_at, id) WHERE state IN ('prepared', 'pending') AND parked_at IS NULL;
CREATE INDEX charges_parked ON charges (parked_at) WHERE parked_at IS NOT NULL;
-- One open charge per purpose. A purpose that does not recur is paid once.
CREATE UNIQUE INDEX charges_one_open ON charges (purpose, purpose_id, project_id) WHERE state IN ('prepared', 'pending');
CREATE UNIQUE INDEX charges_one_paid ON charges (purpose, purpose_id, project_id)
    WHERE state IN ('prepared', 'pending', 'succeeded') AND purpose <> 'subscription';
-- One open verification per customer.
CREATE UNIQUE INDEX charges_one_verification ON charges (counterparty_id, project_id)
    WHERE purpose = 'verification' AND state IN ('prepared', 'pending');
CREATE INDEX charges_of_concern ON charges (project_id, id) WHERE concern_at IS NOT NULL;

-- The row with its key is committed before the acquirer is called. `request_key` identifies the refund permanently,
-- `idempotence_key` the current attempt.
CREATE TABLE refunds (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    charge_id BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('due', 'pending', 'succeeded', 'failed')),
    amount BIGINT NOT NULL CHECK (amount > 0),
    description TEXT NOT NULL,
    request_key TEXT NOT NULL UNIQUE,
    idempotence_key TEXT NOT NULL UNIQUE,
    key_made_at TIMESTAMP NOT NULL,
    asked_at TIMESTAMP NOT NULL,
    tries INTEGER NOT NULL,
    provider_refund_id TEXT UNIQUE,
    reason TEXT,
    checks INTEGER NOT NULL,
    next_check_at TIMESTAMP,
    leased_until TIMESTAMP,
    lease_owner TEXT,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    settled_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    -- Receipt of a partial refund, as sent.
    receipt TEXT,
    lapses BIGINT NOT NULL DEFAULT 0,
    UNIQUE (project_id, id),
    FOREIGN KEY (project_id, charge_id) REFERENCES charges (project_id, id)
);
CREATE INDEX refunds_by_charge ON refunds (charge_id, project_id, id);
CREATE INDEX refunds_due ON refunds (next_check_at, id) WHERE state IN ('due', 'pending') AND parked_at IS NULL;
CREATE INDEX refunds_parked ON refunds (parked_at) WHERE parked_at IS NOT NULL;

-- Fiscal receipt settings. A project without a row sends no receipts.
CREATE TABLE receipt_settings (
    project_id BIGINT NOT NULL PRIMARY KEY REFERENCES projects (id),
    tax_system_code INTEGER CHECK (tax_system_code BETWEEN 1 AND 6),
    default_vat_code INTEGER NOT NULL CHECK (default_vat_code BETWEEN 1 AND 12)
);

-- Receipts of payments and refunds are sent with their requests. A `hand_over` receipt is requested separately, with `body` and
-- `idempotence_key` of the current attempt; `body` is cleared after registration. `concern_at` is set while people must look.
CREATE TABLE receipts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    charge_id BIGINT NOT NULL,
    refund_id BIGINT,
    kind TEXT NOT NULL CHECK (kind IN ('payment', 'refund', 'hand_over')),
    state TEXT NOT NULL CHECK (state IN ('due', 'pending', 'succeeded', 'canceled')),
    body TEXT,
    idempotence_key TEXT UNIQUE,
    key_made_at TIMESTAMP NOT NULL,
    asked_at TIMESTAMP NOT NULL,
    tries INTEGER NOT NULL,
    provider_receipt_id TEXT UNIQUE,
    reason TEXT,
    checks INTEGER NOT NULL,
    next_check_at TIMESTAMP,
    leased_until TIMESTAMP,
    lease_owner TEXT,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    concern_at TIMESTAMP,
    settled_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    lapses BIGINT NOT NULL DEFAULT 0,
    FOREIGN KEY (project_id, charge_id) REFERENCES charges (project_id, id),
    FOREIGN KEY (project_id, refund_id) REFERENCES refunds (project_id, id),
    CHECK ((kind = 'refund') = (refund_id IS NOT NULL)),
    CHECK ((kind = 'hand_over') = (idempotence_key IS NOT NULL))
);
-- A charge has one receipt for the payment and one for the hand-over of prepaid goods.
CREATE UNIQUE INDEX receipts_one_of_charge ON receipts (charge_id, kind, project_id) WHERE refund_id IS NULL;
CREATE UNIQUE INDEX receipts_one_of_refund ON receipts (refund_id, project_id) WHERE refund_id IS NOT NULL;
CREATE INDEX receipts_due ON receipts (next_check_at, id) WHERE state IN ('due', 'pending') AND parked_at IS NULL;
CREATE INDEX receipts_parked ON receipts (parked_at) WHERE parked_at IS NOT NULL;
CREATE INDEX receipts_of_concern ON receipts (project_id, id) WHERE concern_at IS NOT NULL;

-- Payment methods that customers allowed to charge again, saved with the outcome of a charge. `provider_method_id` is secret.
CREATE TABLE saved_payment_methods (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    application_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    charge_id BIGINT NOT NULL,
    provider_method_id TEXT NOT NULL UNIQUE,
    method TEXT NOT NULL,
    card_type TEXT,
    card_last_4 TEXT,
    title TEXT,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, application_id) REFERENCES applications (project_id, id),
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id),
    FOREIGN KEY (project_id, charge_id) REFERENCES charges (project_id, id)
);
CREATE INDEX saved_payment_methods_by_customer ON saved_payment_methods (counterparty_id, application_id, id);

-- Verification payments. The state is that of the charge.
CREATE TABLE verifications (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL,
    counterparty_id BIGINT NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    created_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, counterparty_id) REFERENCES counterparties (project_id, id)
);
CREATE INDEX verifications_by_customer ON verifications (counterparty_id, id);

-- One row: time up to which refunds were compared with those of the acquirer, and the claim of a worker.
CREATE TABLE refund_comparisons (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    compared_until TIMESTAMP NOT NULL,
    claimed_until TIMESTAMP
);
INSERT INTO refund_comparisons (id, compared_until) VALUES (1, '1970-01-01 00:00:00');
