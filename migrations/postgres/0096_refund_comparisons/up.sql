-- Until when the refunds that the acquirer lists were compared with ours, and until when a worker is at it. One row.
CREATE TABLE refund_comparisons (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    compared_until TIMESTAMP NOT NULL,
    claimed_until TIMESTAMP
);
INSERT INTO refund_comparisons (id, compared_until) VALUES (1, '1970-01-01 00:00:00');
