DROP TABLE slides;
DROP TABLE search_requests;
DROP TABLE favourites;
