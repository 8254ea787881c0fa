-- When an application was activated again: what was not charged while it was deactivated is not charged afterwards.
ALTER TABLE applications ADD COLUMN activated_at TIMESTAMP;
