-- One attempt to take the money of an order. The row with its key stands before the acquirer is called.
CREATE TABLE payment_attempts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    order_id BIGINT NOT NULL REFERENCES orders (id),
    idempotence_key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('prepared', 'pending', 'succeeded', 'canceled', 'refused')),
    provider_payment_id TEXT UNIQUE,
    amount BIGINT NOT NULL CHECK (amount > 0),
    request TEXT NOT NULL,
    confirmation_url TEXT,
    reason TEXT,
    checks INTEGER NOT NULL,
    next_check_at TIMESTAMP,
    leased_until TIMESTAMP,
    lease_owner TEXT,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX payment_attempts_by_order ON payment_attempts (order_id, id);
CREATE INDEX payment_attempts_by_check ON payment_attempts (next_check_at);
-- At most one attempt of an order may still take money or have taken it.
CREATE UNIQUE INDEX payment_attempts_one_open ON payment_attempts (order_id)
    WHERE state IN ('prepared', 'pending', 'succeeded');

-- A payment that proves who pays, and its way back. The row with its key stands before the acquirer is called; so does
-- the key of the refund, which `refund_state` follows: due, pending, done or failed.
CREATE TABLE verification_payments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    counterparty_id BIGINT NOT NULL REFERENCES counterparties (id),
    idempotence_key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('prepared', 'pending', 'succeeded', 'canceled', 'expired', 'refused')),
    provider_payment_id TEXT UNIQUE,
    request TEXT NOT NULL,
    confirmation_url TEXT,
    reason TEXT,
    refund_state TEXT CHECK (refund_state IN ('due', 'pending', 'done', 'failed')),
    refund_key TEXT,
    refund_key_at TIMESTAMP,
    refund_tries INTEGER NOT NULL,
    provider_refund_id TEXT,
    checks INTEGER NOT NULL,
    next_check_at TIMESTAMP,
    leased_until TIMESTAMP,
    lease_owner TEXT,
    expires_at TIMESTAMP NOT NULL,
    settled_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL
);
CREATE INDEX verification_payments_by_customer ON verification_payments (counterparty_id, id);
CREATE INDEX verification_payments_by_check ON verification_payments (next_check_at);
-- At most one of a customer may still be paid.
CREATE UNIQUE INDEX verification_payments_one_open ON verification_payments (counterparty_id)
    WHERE state IN ('prepared', 'pending');

INSERT INTO payment_attempts (project_id, order_id, idempotence_key, state, provider_payment_id, amount, request,
    confirmation_url, reason, checks, next_check_at, leased_until, lease_owner, created_at, updated_at)
SELECT project_id, purpose_id, idempotence_key, CASE WHEN state = 'expired' THEN 'canceled' ELSE state END,
    provider_payment_id, amount, request, confirmation_url, reason, checks, next_check_at, leased_until, lease_owner,
    created_at, updated_at
FROM charges WHERE purpose = 'order' ORDER BY id;

INSERT INTO verification_payments (id, project_id, counterparty_id, idempotence_key, state, provider_payment_id,
    request, confirmation_url, reason, refund_state, refund_key, refund_key_at, refund_tries, provider_refund_id, checks,
    next_check_at, leased_until, lease_owner, expires_at, settled_at, created_at, updated_at)
SELECT v.id, v.project_id, v.counterparty_id, c.idempotence_key, c.state, c.provider_payment_id, c.request,
    c.confirmation_url, COALESCE(r.reason, c.reason), CASE WHEN r.state = 'succeeded' THEN 'done' ELSE r.state END,
    r.idempotence_key, r.key_made_at, COALESCE(r.tries, 0), r.provider_refund_id, COALESCE(r.checks, c.checks),
    COALESCE(r.next_check_at, c.next_check_at), COALESCE(r.leased_until, c.leased_until),
    COALESCE(r.lease_owner, c.lease_owner), v.expires_at, c.settled_at, v.created_at, c.updated_at
FROM verifications v JOIN charges c ON c.purpose = 'verification' AND c.purpose_id = v.id
LEFT JOIN refunds r ON r.id = (SELECT min(f.id) FROM refunds f WHERE f.charge_id = c.id) ORDER BY v.id;

DROP TABLE saved_payment_methods;
DROP TABLE refunds;
DROP TABLE charges;
DROP TABLE verifications;
