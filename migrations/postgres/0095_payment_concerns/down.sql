DROP INDEX charges_of_concern;
ALTER TABLE charges DROP COLUMN concern_at;
