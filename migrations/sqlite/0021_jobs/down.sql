DROP TABLE job_errors;
DROP TABLE jobs;
