-- How a project has fiscal receipts made. A project without a row has none.
CREATE TABLE receipt_settings (
    project_id BIGINT NOT NULL PRIMARY KEY REFERENCES projects (id),
    tax_system_code INTEGER CHECK (tax_system_code BETWEEN 1 AND 6),
    default_vat_code INTEGER NOT NULL CHECK (default_vat_code BETWEEN 1 AND 12)
);

-- The VAT of an order line by the acquirer's code; without one the order has no receipt.
ALTER TABLE reservations ADD COLUMN vat_code INTEGER CHECK (vat_code BETWEEN 1 AND 12);

-- What the register prints about a partial refund, word for word.
ALTER TABLE refunds ADD COLUMN receipt TEXT;

-- Receipts on their way to the register. Those of payments and refunds went with their requests; that of a hand-over is
-- asked for by itself, with `body` and under `idempotence_key`, the key of the present try. `body` goes when it is
-- registered. `concern_at` says since when people must look at it.
CREATE TABLE receipts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    charge_id BIGINT NOT NULL REFERENCES charges (id),
    refund_id BIGINT REFERENCES refunds (id),
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
    CHECK ((kind = 'refund') = (refund_id IS NOT NULL)),
    CHECK ((kind = 'hand_over') = (idempotence_key IS NOT NULL))
);
-- A charge has one receipt when it is paid, and one when what was prepaid is handed over.
CREATE UNIQUE INDEX receipts_one_of_charge ON receipts (charge_id, kind) WHERE refund_id IS NULL;
CREATE UNIQUE INDEX receipts_one_of_refund ON receipts (refund_id) WHERE refund_id IS NOT NULL;
CREATE INDEX receipts_due ON receipts (next_check_at, id) WHERE state IN ('due', 'pending') AND parked_at IS NULL;
CREATE INDEX receipts_parked ON receipts (parked_at) WHERE parked_at IS NOT NULL;
CREATE INDEX receipts_of_concern ON receipts (project_id, id) WHERE concern_at IS NOT NULL;
