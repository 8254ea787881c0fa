DROP TABLE histories;
