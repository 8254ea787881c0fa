DROP TABLE task_mails;
DROP TABLE task_news;
DROP TABLE tasks;
