-- Answers are lost: what was done is read anew.
DROP TABLE idempotency_answers;
ALTER TABLE idempotency_keys DROP COLUMN answer_number;
