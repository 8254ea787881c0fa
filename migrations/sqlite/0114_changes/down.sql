DROP INDEX counterparties_by_change;
DROP INDEX inventories_by_change;
DROP INDEX nomenclatures_by_change;
DROP INDEX orders_by_change;
DROP INDEX subscriptions_by_change;
