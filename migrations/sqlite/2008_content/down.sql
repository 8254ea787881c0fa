DROP TABLE menu_items;
DROP TABLE blocks;
DROP TABLE page_tag_links;
DROP TABLE page_tags;
DROP TABLE pages;
DROP TABLE slides;
DROP TABLE files;
DROP TABLE page_search;
