-- Taking money, whatever for: one attempt is one charge. The row with its key stands before the acquirer is called.
-- `purpose` and `purpose_id` say what follows from the outcome. `captured` has arrived, `refunded` has gone back, and
-- `refunding` is set aside for refunds whose outcome is still to come.
CREATE TABLE charges (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT REFERENCES applications (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
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
    CHECK (refunded + refunding <= captured),
    CHECK ((state = 'succeeded') = (captured > 0))
);
CREATE INDEX charges_by_purpose ON charges (purpose, purpose_id, id);
CREATE INDEX charges_by_customer ON charges (counterparty_id, id);
CREATE INDEX charges_by_method ON charges (saved_method_id, id) WHERE saved_method_id IS NOT NULL;
CREATE INDEX charges_due ON charges (next_check_at, id) WHERE state IN ('prepared', 'pending') AND parked_at IS NULL;
CREATE INDEX charges_parked ON charges (parked_at) WHERE parked_at IS NOT NULL;
-- At most one charge may still take money for one purpose; a purpose that does not recur is paid once.
CREATE UNIQUE INDEX charges_one_open ON charges (purpose, purpose_id) WHERE state IN ('prepared', 'pending');
CREATE UNIQUE INDEX charges_one_paid ON charges (purpose, purpose_id)
    WHERE state IN ('prepared', 'pending', 'succeeded') AND purpose <> 'subscription';
-- At most one verification of a customer may still be paid.
CREATE UNIQUE INDEX charges_one_verification ON charges (counterparty_id)
    WHERE purpose = 'verification' AND state IN ('prepared', 'pending');

-- Money on its way back. The row with its key stands before the acquirer is called. `request_key` names the refund for
-- good, `idempotence_key` the present try.
CREATE TABLE refunds (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    charge_id BIGINT NOT NULL REFERENCES charges (id),
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
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX refunds_by_charge ON refunds (charge_id, id);
CREATE INDEX refunds_due ON refunds (next_check_at, id) WHERE state IN ('due', 'pending') AND parked_at IS NULL;
CREATE INDEX refunds_parked ON refunds (parked_at) WHERE parked_at IS NOT NULL;

-- Methods that customers let be charged again, saved with the outcome of a charge. `provider_method_id` is never shown.
CREATE TABLE saved_payment_methods (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    application_id BIGINT NOT NULL REFERENCES applications (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    charge_id BIGINT NOT NULL REFERENCES charges (id),
    provider_method_id TEXT NOT NULL UNIQUE,
    method TEXT NOT NULL,
    card_type TEXT,
    card_last_4 TEXT,
    title TEXT,
    is_active BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX saved_payment_methods_by_customer ON saved_payment_methods (counterparty_id, application_id, id);

-- What is special to verifications; where one stands, its charge says.
CREATE TABLE verifications (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    expires_at TIMESTAMP NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX verifications_by_customer ON verifications (counterparty_id, id);

INSERT INTO charges (project_id, application_id, counterparty_id, purpose, purpose_id, idempotence_key, state,
    provider_payment_id, amount, captured, refunded, refunding, request, confirmation_url, reason, checks, asked_at,
    next_check_at, leased_until, lease_owner, settled_at, created_at, updated_at)
SELECT a.project_id, o.application_id, o.counterparty_id, 'order', a.order_id, a.idempotence_key, a.state,
    a.provider_payment_id, a.amount, CASE WHEN a.state = 'succeeded' THEN a.amount ELSE 0 END, 0, 0, a.request,
    a.confirmation_url, a.reason, a.checks, a.updated_at, a.next_check_at, a.leased_until, a.lease_owner,
    CASE WHEN a.state IN ('prepared', 'pending') THEN NULL ELSE a.updated_at END, a.created_at, a.updated_at
FROM payment_attempts a JOIN orders o ON o.id = a.order_id ORDER BY a.id;

INSERT INTO verifications (id, project_id, counterparty_id, expires_at, created_at)
SELECT id, project_id, counterparty_id, expires_at, created_at FROM verification_payments ORDER BY id;

-- The amount stood in the request alone. One that cannot be read there cannot be charged either: the row is parked when
-- its turn comes.
INSERT INTO charges (project_id, counterparty_id, purpose, purpose_id, idempotence_key, state, provider_payment_id,
    amount, captured, refunded, refunding, request, confirmation_url, reason, checks, asked_at, next_check_at,
    leased_until, lease_owner, settled_at, created_at, updated_at)
SELECT m.project_id, m.counterparty_id, 'verification', m.id, m.idempotence_key, m.state, m.provider_payment_id,
    m.amount, CASE WHEN m.state = 'succeeded' THEN m.amount ELSE 0 END,
    CASE WHEN m.refund_state = 'done' THEN m.amount ELSE 0 END,
    CASE WHEN m.refund_state IN ('due', 'pending') THEN m.amount ELSE 0 END, m.request, m.confirmation_url, m.reason,
    m.checks, m.updated_at, CASE WHEN m.is_open THEN m.next_check_at END, CASE WHEN m.is_open THEN m.leased_until END,
    CASE WHEN m.is_open THEN m.lease_owner END, CASE WHEN m.is_open THEN NULL ELSE COALESCE(m.settled_at, m.updated_at) END,
    m.created_at, m.updated_at
FROM (
    SELECT v.*, v.state IN ('prepared', 'pending') AS is_open, CASE WHEN json_valid(v.request) THEN COALESCE(json_extract(v.request, '$.amount'), 1) ELSE 1 END AS amount FROM verification_payments v
) m ORDER BY m.id;

INSERT INTO refunds (project_id, charge_id, state, amount, description, request_key, idempotence_key, key_made_at,
    asked_at, tries, provider_refund_id, reason, checks, next_check_at, leased_until, lease_owner, settled_at,
    created_at, updated_at)
SELECT v.project_id, c.id, CASE WHEN v.refund_state = 'done' THEN 'succeeded' ELSE v.refund_state END, c.amount,
    'Verification ' || CAST(v.id AS TEXT), COALESCE(v.refund_key, v.idempotence_key),
    COALESCE(v.refund_key, v.idempotence_key), COALESCE(v.refund_key_at, v.updated_at), v.updated_at, v.refund_tries,
    v.provider_refund_id, v.reason, v.checks, v.next_check_at, v.leased_until, v.lease_owner,
    CASE WHEN v.refund_state IN ('done', 'failed') THEN v.updated_at END, COALESCE(v.settled_at, v.updated_at),
    v.updated_at
FROM verification_payments v JOIN charges c ON c.purpose = 'verification' AND c.purpose_id = v.id
WHERE v.refund_state IS NOT NULL ORDER BY v.id;

DROP TABLE verification_payments;
DROP TABLE payment_attempts;
