DROP TABLE page_tag_links;
DROP TABLE page_tags;
DROP TABLE pages;
