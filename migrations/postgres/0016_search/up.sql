-- What items are found by. `search_text` is every word of name and article in lower case with a space before it,
-- `article_search` the article without anything but letters and digits. Both are written with the card; rows without are
-- filled in by `kontor migrate`, which also makes the index over `search_text` where the server can have one.
ALTER TABLE nomenclatures ADD COLUMN search_text TEXT COLLATE "C";
ALTER TABLE nomenclatures ADD COLUMN article_search TEXT COLLATE "C";
CREATE INDEX nomenclatures_by_article_search ON nomenclatures (project_id, article_search, id);
CREATE INDEX nomenclatures_without_search ON nomenclatures (id) WHERE search_text IS NULL;

-- How many offers an application has, kept in the commits that change them: counting a million takes as long as reading
-- them. Category 0 stands for all of them. Several rows of one category are added up: writers that would wait for each
-- other take different slots.
CREATE TABLE offer_counts (
    application_id BIGINT NOT NULL REFERENCES applications (id),
    category_id BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    total BIGINT NOT NULL,
    PRIMARY KEY (application_id, category_id, slot)
);
INSERT INTO offer_counts (application_id, category_id, slot, total)
SELECT application_id, category_id, 0, count(*) FROM storefront_offers WHERE category_id IS NOT NULL
GROUP BY application_id, category_id
UNION ALL
SELECT application_id, 0, 0, count(*) FROM storefront_offers GROUP BY application_id;
