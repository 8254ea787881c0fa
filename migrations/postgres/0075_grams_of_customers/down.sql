DROP INDEX counterparties_by_grams;
DROP FUNCTION kontor_grams;
