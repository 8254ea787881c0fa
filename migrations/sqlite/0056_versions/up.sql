-- Every record that can be edited has a version, which every statement that changes what it shows raises.
ALTER TABLE departments ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE permissions ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE users ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE brands ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE categories ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE warehouses ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE inventories ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE counterparties ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE counterparty_contacts ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE counterparty_bank_requisites ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE webhooks ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE application_brands ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE application_categories ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE subscription_nomenclatures ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE integration_links ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

-- Whether a project's records are changed and deleted with the version that was read alone.
ALTER TABLE projects ADD COLUMN if_match_required BOOLEAN NOT NULL DEFAULT FALSE;
