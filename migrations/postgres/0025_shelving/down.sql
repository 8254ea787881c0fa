DROP TABLE shelving;
