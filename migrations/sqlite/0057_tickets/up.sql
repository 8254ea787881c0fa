-- Items of this type are tickets.
INSERT INTO dictionary_items (dictionary, id, name, created_at) VALUES
    ('nomenclature_types', 6, 'Ticket', '2026-01-01 00:00:00');

-- Whether the pieces of a line are tickets: what the item was when it was ordered.
ALTER TABLE reservations ADD COLUMN is_ticket BOOLEAN NOT NULL DEFAULT FALSE;

-- The tickets of an order: the random part of the token that opens the door, how many there are less those that were taken
-- back, and how many have been redeemed. The reference goes when the customer leaves.
CREATE TABLE order_tickets (
    order_id BIGINT NOT NULL PRIMARY KEY REFERENCES orders (id),
    project_id BIGINT NOT NULL REFERENCES projects (id),
    reference TEXT,
    total BIGINT NOT NULL CHECK (total >= 0),
    redeemed BIGINT NOT NULL DEFAULT 0 CHECK (redeemed >= 0 AND redeemed <= total),
    last_redeemed_at TIMESTAMP,
    UNIQUE (project_id, reference)
);

-- Scans of tickets with what became of them; rows never change. `is_dated` says whether the scanner told the moment, and
-- `redeemed_count` and `total_tickets` are those of the order at that moment; when and where the last entry was stands in a scan
-- that came too late. Those that were not admitted go after 180 days.
CREATE TABLE ticket_scans (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    order_id BIGINT REFERENCES orders (id),
    scan_id TEXT NOT NULL,
    token_fingerprint TEXT NOT NULL,
    quantity BIGINT NOT NULL CHECK (quantity > 0),
    shop_id BIGINT REFERENCES shops (id),
    is_dated BOOLEAN NOT NULL,
    scanned_at TIMESTAMP NOT NULL,
    user_id BIGINT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('admitted', 'unknown', 'canceled', 'unpaid', 'already_redeemed', 'too_many',
        'other_shop', 'not_yet', 'expired')),
    redeemed_count BIGINT NOT NULL CHECK (redeemed_count >= 0 AND redeemed_count <= total_tickets),
    total_tickets BIGINT NOT NULL,
    earlier_at TIMESTAMP,
    earlier_shop_id BIGINT REFERENCES shops (id),
    created_at TIMESTAMP NOT NULL,
    CHECK (outcome <> 'admitted' OR order_id IS NOT NULL),
    UNIQUE (project_id, scan_id)
);
CREATE INDEX ticket_scans_by_order ON ticket_scans (order_id, id);
CREATE INDEX ticket_scans_by_moment ON ticket_scans (created_at) WHERE outcome <> 'admitted';
