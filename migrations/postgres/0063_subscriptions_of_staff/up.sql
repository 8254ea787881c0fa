-- `told_period` is the number of the next period that the customer was told of, `told_of` what they were told: that it will be charged,
-- or that there will be none. `missed` has the numbers of periods that are still to be collected, as a list.
ALTER TABLE subscriptions ADD COLUMN told_period BIGINT;
ALTER TABLE subscriptions ADD COLUMN told_of TEXT;
ALTER TABLE subscriptions ADD COLUMN missed TEXT;

-- What staff look for: states, charges to come, those that wait for people.
CREATE INDEX subscriptions_by_status ON subscriptions (project_id, status, id);
CREATE INDEX subscriptions_by_charge ON subscriptions (project_id, next_charge_at, id) WHERE next_charge_at IS NOT NULL;
CREATE INDEX subscriptions_parked_of_project ON subscriptions (project_id, id) WHERE parked IS NOT NULL;

INSERT INTO screens (id, name) VALUES (25, 'subscriptions');
INSERT INTO permissions (screen_id, name, description)
SELECT 25, 'view-subscriptions', 'See subscriptions'
WHERE NOT EXISTS (SELECT 1 FROM permissions WHERE name = 'view-subscriptions');
INSERT INTO permissions (screen_id, name, description)
SELECT 25, 'create-subscriptions', 'Create subscriptions'
WHERE NOT EXISTS (SELECT 1 FROM permissions WHERE name = 'create-subscriptions');
INSERT INTO permissions (screen_id, name, description)
SELECT 25, 'edit-subscriptions', 'Create, change and delete subscriptions'
WHERE NOT EXISTS (SELECT 1 FROM permissions WHERE name = 'edit-subscriptions');
