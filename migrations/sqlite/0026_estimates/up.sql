-- SQLite knows what an index holds by itself; this step stands here because both databases count the same steps.
SELECT 1;
