DROP TABLE menu_items;
DROP TABLE blocks;
DROP TABLE page_tag_links;
DROP TABLE page_tags;
DROP TABLE pages;
DROP TABLE slides;
ALTER TABLE users DROP CONSTRAINT users_project_id_avatar_id_fkey;
ALTER TABLE counterparties DROP CONSTRAINT counterparties_project_id_avatar_id_fkey;
DROP TABLE files;
