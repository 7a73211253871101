//! Diesel's view of the tables that `migrations/` defines.

diesel::table! {
    orders (id) {
        id -> Text,
        body -> Text,
        confirmed_at -> Timestamptz,
        sync_status -> Text,
        attempts -> Integer,
        last_attempt_at -> Nullable<Timestamptz>,
        mode -> Nullable<Text>,
        sync_error -> Nullable<Text>,
        service_order_id -> Nullable<Text>,
        tracking_code -> Nullable<Text>,
        tracking_url -> Nullable<Text>,
        delivery_status -> Nullable<Text>,
        cod_status -> Nullable<Text>,
        last_sequence -> Nullable<BigInt>,
    }
}

diesel::table! {
    webhooks (event_id) {
        event_id -> Text,
        arrival -> BigInt,
        kind -> Text,
        sequence -> Nullable<BigInt>,
        mode -> Nullable<Text>,
        order_reference -> Nullable<Text>,
        tracking_code -> Nullable<Text>,
        body -> Binary,
        headers -> Jsonb,
        received_at -> Timestamptz,
        times_received -> Integer,
        processed_at -> Nullable<Timestamptz>,
        outcome -> Nullable<Text>,
    }
}
