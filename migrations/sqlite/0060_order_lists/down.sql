DROP INDEX orders_waiting;
