-- There is nothing to take back.
SELECT 1;
