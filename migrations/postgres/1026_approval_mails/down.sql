DROP TABLE approval_mails;
