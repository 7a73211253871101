//! RabbitMQ: topology, confirmed publisher, consumer loop, reconnect, dead letters.
