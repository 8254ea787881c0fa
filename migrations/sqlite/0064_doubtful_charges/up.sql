-- What the acquirer said of a charge that had ended otherwise, the first time.
ALTER TABLE charges ADD COLUMN contradiction TEXT;
