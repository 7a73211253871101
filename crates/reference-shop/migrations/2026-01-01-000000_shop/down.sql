DROP TABLE webhooks;
DROP TABLE orders;
