-- What requests with keys were answered stands apart from the keys, in the order of their requests: a key is a row among random
-- ones, which would be written once more for its answer. Answers of before stay where they are until their keys end.
ALTER TABLE idempotency_keys ADD COLUMN answer_number BIGINT;
CREATE TABLE idempotency_answers (
    -- The moment of the request, in milliseconds, and 21 bits that tell requests of one moment apart.
    number BIGINT NOT NULL PRIMARY KEY,
    -- Sealed with a key that is made of the caller's.
    answer BYTEA NOT NULL
);
