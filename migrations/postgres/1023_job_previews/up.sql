-- First rows of an import as its first pass found them, at most 20, as JSON.
ALTER TABLE jobs ADD COLUMN preview TEXT;
