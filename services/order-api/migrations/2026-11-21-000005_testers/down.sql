DROP TABLE testers;
