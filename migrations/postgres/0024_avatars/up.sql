-- Pictures of persons: files of the type 2. Who shows a file shows nothing once it is gone.
ALTER TABLE users ADD COLUMN avatar_id BIGINT REFERENCES files (id) ON DELETE SET NULL;
ALTER TABLE counterparties ADD COLUMN avatar_id BIGINT REFERENCES files (id) ON DELETE SET NULL;
CREATE INDEX users_by_avatar ON users (avatar_id) WHERE avatar_id IS NOT NULL;
CREATE INDEX counterparties_by_avatar ON counterparties (avatar_id) WHERE avatar_id IS NOT NULL;

-- The ways to pay that an application takes. An application without any takes all of its project.
CREATE TABLE application_payment_types (
    application_id BIGINT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    payment_type_id BIGINT NOT NULL REFERENCES payment_types (id) ON DELETE CASCADE,
    PRIMARY KEY (application_id, payment_type_id)
);
CREATE INDEX application_payment_types_by_type ON application_payment_types (payment_type_id);
