DROP TABLE approval_mails;
DROP TABLE agent_actions;
DROP TABLE agent_usage;
DROP TABLE agent_policies;
