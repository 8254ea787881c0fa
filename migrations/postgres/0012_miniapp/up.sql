-- The bots behind the mini-apps of an application; their tokens are the keys of the contacts that messengers sign.
CREATE TABLE application_miniapps (
    application_id BIGINT NOT NULL REFERENCES applications (id),
    provider TEXT NOT NULL,
    sealed_token TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (application_id, provider)
);
