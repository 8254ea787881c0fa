DROP TABLE offer_counts;
DROP INDEX IF EXISTS nomenclatures_search;
DROP INDEX nomenclatures_without_search;
DROP INDEX nomenclatures_by_article_search;
ALTER TABLE nomenclatures DROP COLUMN article_search;
ALTER TABLE nomenclatures DROP COLUMN search_text;
