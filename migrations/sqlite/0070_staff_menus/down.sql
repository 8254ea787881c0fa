DROP TABLE staff_menu_uses;
DROP TABLE staff_menu_items;
DROP TABLE staff_menus;
