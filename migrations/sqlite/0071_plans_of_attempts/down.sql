ALTER TABLE subscription_payments DROP COLUMN billing_months;
ALTER TABLE subscription_payments DROP COLUMN nomenclature_id;
