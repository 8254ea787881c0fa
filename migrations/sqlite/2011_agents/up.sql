-- Calls of agents, their approval by employees, and the policies that demand it.

-- Policy of a project. Without a row the defaults of the channels apply.
CREATE TABLE agent_policies (
    project_id BIGINT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    refuses_writes BOOLEAN NOT NULL,
    approvals_per_hour BIGINT NOT NULL CHECK (approvals_per_hour >= 0),
    -- The log is kept this long.
    retention_days BIGINT NOT NULL CHECK (retention_days >= 1),
    -- JSON: the rules of the project, and those of single agents by their number.
    rules TEXT NOT NULL,
    updated_by BIGINT NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    FOREIGN KEY (project_id, updated_by) REFERENCES users (project_id, id)
);

-- Use of the limits of an agent on one day.
CREATE TABLE agent_usage (
    project_id BIGINT NOT NULL,
    agent_id BIGINT NOT NULL,
    day_end TIMESTAMP NOT NULL,
    calls BIGINT NOT NULL,
    -- In minor units.
    money BIGINT NOT NULL,
    PRIMARY KEY (agent_id, day_end, project_id),
    FOREIGN KEY (project_id, agent_id) REFERENCES users (project_id, id)
);
CREATE INDEX agent_usage_by_day ON agent_usage (day_end);

-- Calls that need approval, and the log of the other writes of agents.
CREATE TABLE agent_actions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL UNIQUE,
    project_id BIGINT NOT NULL,
    agent_id BIGINT NOT NULL,
    -- A token ends before its calls are swept, so this is no foreign key.
    token_id BIGINT NOT NULL,
    channel TEXT NOT NULL CHECK (channel IN ('api', 'mcp')),
    -- Method and path template.
    operation TEXT NOT NULL,
    -- Path and query string.
    target TEXT NOT NULL,
    -- JSON, with the keys of objects in order.
    body TEXT,
    sent_key TEXT,
    if_match TEXT,
    preview_hash TEXT,
    class TEXT NOT NULL CHECK (class IN ('read', 'write', 'money', 'destructive')),
    arguments_hash TEXT NOT NULL,
    policy_version BIGINT NOT NULL,
    needs_approval BOOLEAN NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'approved', 'refused', 'executed', 'failed', 'reported')),
    decided_by BIGINT,
    decided_at TIMESTAMP,
    reason TEXT,
    proposed_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    keep_until TIMESTAMP NOT NULL,
    started_at TIMESTAMP,
    leased_until TIMESTAMP,
    attempts INTEGER NOT NULL,
    -- The execution counts toward the limits of the agent.
    is_counted BOOLEAN NOT NULL DEFAULT FALSE,
    finished_at TIMESTAMP,
    status_code INTEGER,
    error_code TEXT,
    -- JSON text of the response.
    result TEXT,
    reported_at TIMESTAMP,
    FOREIGN KEY (project_id, agent_id) REFERENCES users (project_id, id),
    FOREIGN KEY (project_id, decided_by) REFERENCES users (project_id, id),
    CHECK (state <> 'proposed' OR decided_at IS NULL),
    CHECK (state NOT IN ('approved', 'refused') OR decided_at IS NOT NULL),
    CHECK ((decided_at IS NULL) = (decided_by IS NULL)),
    CHECK ((state IN ('proposed', 'refused')) = (started_at IS NULL)),
    CHECK ((started_at IS NULL) = (leased_until IS NULL)),
    CHECK ((state IN ('executed', 'failed', 'reported')) = (finished_at IS NOT NULL)),
    CHECK ((finished_at IS NULL) = (status_code IS NULL)),
    CHECK ((state = 'reported') = (reported_at IS NOT NULL))
);
CREATE INDEX agent_actions_by_call ON agent_actions (token_id, arguments_hash, id);
CREATE INDEX agent_actions_by_agent ON agent_actions (agent_id, expires_at);
CREATE INDEX agent_actions_by_project ON agent_actions (project_id, id);
CREATE INDEX agent_actions_by_project_agent ON agent_actions (project_id, agent_id, id);
CREATE INDEX agent_actions_by_project_state ON agent_actions (project_id, state, id);
CREATE INDEX agent_actions_by_lease ON agent_actions (state, leased_until);
CREATE INDEX agent_actions_by_decision ON agent_actions (decided_by, decided_at);
CREATE INDEX agent_actions_by_end ON agent_actions (keep_until);

-- Employees who get a mail about calls of agents that wait for their approval. Every proposal raises `wanted`. A row stays, because
-- it says from when the next mail may be sent.
CREATE TABLE approval_mails (
    project_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    wanted BIGINT NOT NULL,
    next_attempt_at TIMESTAMP NOT NULL,
    lease_owner TEXT,
    leased_until TIMESTAMP,
    parked_at TIMESTAMP,
    parked_reason TEXT,
    lapses BIGINT NOT NULL DEFAULT 0,
    -- Workers find rows by the employee.
    PRIMARY KEY (user_id, project_id),
    FOREIGN KEY (project_id, user_id) REFERENCES users (project_id, id)
);
CREATE INDEX approval_mails_by_next_attempt ON approval_mails (next_attempt_at, user_id) WHERE wanted > 0;
CREATE INDEX approval_mails_parked ON approval_mails (parked_at) WHERE parked_at IS NOT NULL;
