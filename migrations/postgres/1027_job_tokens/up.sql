-- Token of the agent that started the job; NULL for employees and operators. The token may be deleted meanwhile.
ALTER TABLE jobs ADD COLUMN token_id BIGINT;
ALTER TABLE exports ADD COLUMN token_id BIGINT;
