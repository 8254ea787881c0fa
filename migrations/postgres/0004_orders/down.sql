DROP TABLE order_events;
DROP TABLE payment_attempts;
DROP TABLE discount_usages;
DROP TABLE reservations;
DROP TABLE orders;
