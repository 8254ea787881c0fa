-- Payments that people must look at, until `kontor payment settle`. `contradiction` says why.
ALTER TABLE charges ADD COLUMN concern_at TIMESTAMP;
UPDATE charges SET concern_at = updated_at WHERE contradiction IS NOT NULL;
CREATE INDEX charges_of_concern ON charges (project_id, id) WHERE concern_at IS NOT NULL;
