-- Counts commits that change what processes remember, by topic and share of the projects: a process that remembers
-- answers sees by it that another one wrote. Commits of one project take one of eight lanes each, so that they seldom
-- wait for each other.
CREATE TABLE change_marks (
    topic INTEGER NOT NULL,
    stripe INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (topic, stripe, lane)
) WITH (fillfactor = 25);
INSERT INTO change_marks (topic, stripe, lane, version)
SELECT topic, stripe, lane, 0
FROM generate_series(0, 2) AS topic, generate_series(0, 63) AS stripe, generate_series(0, 7) AS lane;
