-- Keyed hashes of addresses from which employees have signed in, with their logins.
CREATE TABLE sign_in_addresses (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    seen_at TIMESTAMP NOT NULL
);
CREATE INDEX sign_in_addresses_by_moment ON sign_in_addresses (seen_at);
