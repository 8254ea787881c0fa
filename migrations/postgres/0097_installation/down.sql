DROP TABLE known_renewals;
DROP TABLE installation;
