DROP INDEX webhooks_by_project;
