DROP TABLE words;
