DROP TABLE application_miniapps;
