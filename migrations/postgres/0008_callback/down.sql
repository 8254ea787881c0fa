DROP TABLE callback_phones;
DROP TABLE callback_attempts;
