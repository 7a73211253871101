//! A private PostgreSQL and RabbitMQ, and the services as child processes: for make run, tests and benchmarks.
