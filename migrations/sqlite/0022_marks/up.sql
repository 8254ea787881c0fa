-- Counts commits that change what processes remember, by topic and share of the projects: a process that remembers
-- answers sees by it that another one wrote.
CREATE TABLE change_marks (
    topic INTEGER NOT NULL,
    stripe INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (topic, stripe, lane)
) WITHOUT ROWID;
INSERT INTO change_marks (topic, stripe, lane, version)
WITH RECURSIVE stripes (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM stripes WHERE number < 63)
SELECT topics.number, stripes.number, 0, 0 FROM (SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT 2) AS topics, stripes;
