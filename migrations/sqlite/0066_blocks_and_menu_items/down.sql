DROP TABLE menu_items;
DROP TABLE blocks;
