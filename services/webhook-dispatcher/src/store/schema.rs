//! The tables, as diesel sees them.

diesel::table! {
    endpoints (id, business_id) {
        id -> Text,
        business_id -> Text,
        url -> Text,
        events -> Array<Text>,
        modes -> Array<Text>,
        paused -> Bool,
        secret_ciphertext -> Binary,
        secret_key_id -> Text,
        next_secret_ciphertext -> Nullable<Binary>,
        next_secret_key_id -> Nullable<Text>,
        max_per_second -> Nullable<Integer>,
        next_secret_from -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        deleted_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    endpoint_health (endpoint_id, business_id) {
        endpoint_id -> Text,
        business_id -> Text,
        last_delivery_at -> Nullable<Timestamptz>,
        last_delivery_succeeded -> Nullable<Bool>,
        failing_since -> Nullable<Timestamptz>,
        disabled_at -> Nullable<Timestamptz>,
        disabled_reason -> Nullable<Text>,
        connection_test -> Text,
        connection_tested_at -> Nullable<Timestamptz>,
        failures_in_a_row -> Integer,
        trips -> Integer,
        tripped_until -> Nullable<Timestamptz>,
        last_success_at -> Nullable<Timestamptz>,
        parked_fate -> Nullable<Text>,
        test_event_id -> Nullable<Text>,
        forged_event_id -> Nullable<Text>,
        forged_refused -> Nullable<Bool>,
        forged_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    order_streams (order_id, business_id) {
        order_id -> Text,
        business_id -> Text,
        next_sequence -> BigInt,
    }
}

diesel::table! {
    held_back_events (order_id, sequence, business_id) {
        order_id -> Text,
        sequence -> BigInt,
        event_id -> Text,
        business_id -> Text,
        envelope -> Json,
        traceparent -> Nullable<Text>,
        tracestate -> Nullable<Text>,
        held_back_at -> Timestamptz,
    }
}

diesel::table! {
    events (event_id, business_id) {
        event_id -> Text,
        business_id -> Text,
        order_id -> Nullable<Text>,
        sequence -> Nullable<BigInt>,
        kind -> Text,
        mode -> Text,
        order_reference -> Nullable<Text>,
        body -> Binary,
        traceparent -> Nullable<Text>,
        tracestate -> Nullable<Text>,
        occurred_at -> Timestamptz,
    }
}

diesel::table! {
    deliveries (id, business_id) {
        id -> Text,
        event_id -> Text,
        endpoint_id -> Text,
        business_id -> Text,
        order_id -> Nullable<Text>,
        sequence -> Nullable<BigInt>,
        kind -> Text,
        in_turn -> Bool,
        state -> Text,
        attempts -> Integer,
        earlier_attempts -> Integer,
        due_at -> Nullable<Timestamptz>,
        lease_token -> Nullable<BigInt>,
        lease_until -> Nullable<Timestamptz>,
        last_error -> Nullable<Text>,
        last_status -> Nullable<Integer>,
        created_at -> Timestamptz,
        completed_at -> Nullable<Timestamptz>,
        skipped_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    attempts (delivery_id, number, started_at, business_id) {
        delivery_id -> Text,
        number -> Integer,
        business_id -> Text,
        started_at -> Timestamptz,
        duration_ms -> BigInt,
        response_status -> Nullable<Integer>,
        succeeded -> Bool,
        error -> Nullable<Text>,
        request_headers -> Json,
        response_headers -> Json,
        response_body -> Nullable<Text>,
        url -> Nullable<Text>,
    }
}

diesel::table! {
    recoveries (id, business_id) {
        id -> Text,
        business_id -> Text,
        endpoint_id -> Text,
        since -> Timestamptz,
        until -> Timestamptz,
        state -> Text,
        total -> BigInt,
        done -> BigInt,
        after_id -> Text,
        due_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        ended_at -> Nullable<Timestamptz>,
        counted_id -> Nullable<Text>,
        scanned_id -> Nullable<Text>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    attempts,
    deliveries,
    endpoint_health,
    endpoints,
    events,
    order_streams,
    held_back_events
);
