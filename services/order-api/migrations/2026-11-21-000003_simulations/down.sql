DROP TABLE simulations;
