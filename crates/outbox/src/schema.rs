//! Diesel's view of the tables.

diesel::table! {
    outbox_messages (id) {
        id -> BigInt,
        event_id -> Text,
        routing_key -> Text,
        body -> Text,
        traceparent -> Nullable<Text>,
        tracestate -> Nullable<Text>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    inbox (consumer, event_id) {
        consumer -> Text,
        event_id -> Text,
        seen_at -> Timestamptz,
    }
}
