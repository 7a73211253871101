DROP TABLE recoveries;
