-- What an attempt paid for: one that failed is tried again while its terms are the same. Unknown of attempts made before.
ALTER TABLE subscription_payments ADD COLUMN nomenclature_id BIGINT;
ALTER TABLE subscription_payments ADD COLUMN billing_months INTEGER;
