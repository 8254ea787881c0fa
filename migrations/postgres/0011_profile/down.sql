DROP TABLE verification_payments;
DROP INDEX login_contacts_by_customer;
DROP TABLE phone_change_codes;
ALTER TABLE counterparties DROP COLUMN deleted_at;
ALTER TABLE counterparties DROP COLUMN verified_at;
ALTER TABLE counterparties DROP COLUMN email_confirmed;
