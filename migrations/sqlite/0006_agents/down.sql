ALTER TABLE access_tokens DROP COLUMN abilities;
ALTER TABLE access_tokens DROP COLUMN name;
ALTER TABLE roles DROP COLUMN kind;
ALTER TABLE users DROP COLUMN kind;
