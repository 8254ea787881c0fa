DROP TABLE application_payment_types;
DROP INDEX counterparties_by_avatar;
DROP INDEX users_by_avatar;
ALTER TABLE counterparties DROP COLUMN avatar_id;
ALTER TABLE users DROP COLUMN avatar_id;
