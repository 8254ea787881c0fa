-- An agent works on the platform surface like an employee, with a role of its own that staff do not see among theirs.
ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'employee' CHECK (kind IN ('employee', 'agent'));
ALTER TABLE roles ADD COLUMN kind TEXT NOT NULL DEFAULT 'staff' CHECK (kind IN ('staff', 'agent'));

-- What a token may do at most, as a JSON list of permission names; absent: all that the role allows.
ALTER TABLE access_tokens ADD COLUMN name TEXT;
ALTER TABLE access_tokens ADD COLUMN abilities TEXT;
