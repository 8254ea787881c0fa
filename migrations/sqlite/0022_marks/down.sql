DROP TABLE change_marks;
