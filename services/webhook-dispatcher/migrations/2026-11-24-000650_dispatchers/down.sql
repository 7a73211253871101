DROP TABLE dispatchers;
