DROP TABLE sign_in_addresses;
