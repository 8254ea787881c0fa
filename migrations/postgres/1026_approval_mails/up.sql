-- Employees who get a mail about calls of agents that wait for their approval. Every proposal raises `wanted`. A row stays, because
-- it says from when the next mail may be sent. Accounts are never deleted, so `user_id` is no foreign key.
CREATE TABLE approval_mails (
    project_id BIGINT NOT NULL REFERENCES projects (id),
    user_id BIGINT NOT NULL,
    wanted BIGINT NOT NULL,
    next_attempt_at TIMESTAMP NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    lapses BIGINT NOT NULL DEFAULT 0,
    -- Workers find rows by the employee.
    PRIMARY KEY (user_id, project_id)
);
CREATE INDEX approval_mails_by_next_attempt ON approval_mails (next_attempt_at, user_id) WHERE wanted > 0;
CREATE INDEX approval_mails_parked ON approval_mails (parked_at) WHERE parked_at IS NOT NULL;
