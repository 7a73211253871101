DROP TABLE inbox;
DROP TABLE outbox_messages;
