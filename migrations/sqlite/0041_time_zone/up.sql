-- In which zone the days of a project begin, by its name in the IANA database.
ALTER TABLE projects ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'Europe/Moscow';
