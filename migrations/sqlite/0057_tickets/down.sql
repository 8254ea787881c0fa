DROP TABLE ticket_scans;
DROP TABLE order_tickets;
ALTER TABLE reservations DROP COLUMN is_ticket;
UPDATE nomenclatures SET type_id = NULL WHERE type_id = 6;
DELETE FROM dictionary_items WHERE dictionary = 'nomenclature_types' AND id = 6;
