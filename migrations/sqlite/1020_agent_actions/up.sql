-- Calls of agents that need the approval of an employee, and the policies that demand it.
INSERT INTO screens (id, name) VALUES (29, 'agent-actions');
INSERT INTO permissions (id, screen_id, name, description) VALUES
    (82, 29, 'view-agent-actions', 'See the calls of agents that need approval'),
    (83, 29, 'create-agent-actions', 'Create calls of agents that need approval'),
    (84, 29, 'edit-agent-actions', 'Change the policy for agents'),
    (85, 29, 'approve-agent-actions', 'Approve and refuse calls of agents');

-- Policy of a project. A project without a row allows its agents everything.
CREATE TABLE agent_policies (
    project_id BIGINT NOT NULL PRIMARY KEY REFERENCES projects (id),
    version BIGINT NOT NULL,
    refuses_writes BOOLEAN NOT NULL,
    -- JSON: the rules of the project, and those of single agents by their number.
    rules TEXT NOT NULL,
    updated_by BIGINT NOT NULL REFERENCES users (id),
    updated_at TIMESTAMP NOT NULL
);

CREATE TABLE agent_actions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL UNIQUE,
    project_id BIGINT NOT NULL REFERENCES projects (id),
    agent_id BIGINT NOT NULL REFERENCES users (id),
    -- A token ends before its calls are swept, so this is no foreign key.
    token_id BIGINT NOT NULL,
    method TEXT NOT NULL,
    tool TEXT NOT NULL,
    path TEXT NOT NULL,
    query TEXT NOT NULL,
    -- JSON, with the keys of objects in order.
    body TEXT,
    idempotency_key TEXT NOT NULL,
    if_match TEXT,
    class TEXT NOT NULL CHECK (class IN ('read', 'write', 'money', 'destructive')),
    arguments_hash TEXT NOT NULL,
    policy_version BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'approved', 'refused', 'executing', 'executed', 'failed')),
    decided_by BIGINT REFERENCES users (id),
    decided_at TIMESTAMP,
    reason TEXT,
    proposed_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    started_at TIMESTAMP,
    leased_until TIMESTAMP,
    finished_at TIMESTAMP,
    status_code INTEGER,
    CHECK ((state = 'proposed') = (decided_at IS NULL)),
    CHECK ((decided_at IS NULL) = (decided_by IS NULL)),
    CHECK ((state IN ('executing', 'executed', 'failed')) = (started_at IS NOT NULL)),
    CHECK ((started_at IS NULL) = (leased_until IS NULL)),
    CHECK ((state IN ('executed', 'failed')) = (finished_at IS NOT NULL)),
    CHECK ((finished_at IS NULL) = (status_code IS NULL))
);
CREATE INDEX agent_actions_by_call ON agent_actions (token_id, arguments_hash, id);
CREATE INDEX agent_actions_by_agent ON agent_actions (agent_id, expires_at);
CREATE INDEX agent_actions_by_project ON agent_actions (project_id, id);
CREATE INDEX agent_actions_by_expiry ON agent_actions (expires_at);
