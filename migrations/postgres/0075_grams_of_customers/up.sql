-- Every six letters that stand together in a word with a digit, with the number of the project before them: a phone, another number or
-- an address of e-mail has few of these in common with others, while its three letters are those of many thousands.
CREATE FUNCTION kontor_grams(project BIGINT, words TEXT) RETURNS TEXT[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT ARRAY(
        SELECT project || '-' || substr(word, place, 6)
        FROM unnest(string_to_array(words, ' ')) AS word, generate_series(1, length(word) - 5) AS place
        WHERE word ~ '[0-9]'
    )
$$;
-- Without a list of entries that wait: every search would read it.
CREATE INDEX counterparties_by_grams ON counterparties USING gin (kontor_grams(project_id, search_text)) WITH (fastupdate = off);
