-- An address the customer wrote himself is not confirmed: it is for mail and signs nobody in.
ALTER TABLE counterparties ADD COLUMN email_confirmed BOOLEAN NOT NULL DEFAULT TRUE;
-- When he proved by a payment from a bank that he is somebody.
ALTER TABLE counterparties ADD COLUMN verified_at TIMESTAMP;
-- When he left. The record stays for his orders, without anything personal.
ALTER TABLE counterparties ADD COLUMN deleted_at TIMESTAMP;

-- The code that went to the phone a customer wants to change to; a new one replaces the older.
CREATE TABLE phone_change_codes (
    counterparty_id BIGINT NOT NULL PRIMARY KEY REFERENCES counterparties (id),
    project_id BIGINT NOT NULL REFERENCES projects (id),
    phone TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    attempts_left INTEGER NOT NULL CHECK (attempts_left >= 0),
    expires_at TIMESTAMP NOT NULL,
    consumed_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL
);
CREATE INDEX phone_change_codes_by_expiry ON phone_change_codes (expires_at);

CREATE INDEX login_contacts_by_customer ON login_contacts (counterparty_id);

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
