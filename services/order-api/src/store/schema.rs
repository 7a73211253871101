//! The tables for diesel.

diesel::table! {
    orders (id, business_id) {
        id -> Text,
        business_id -> Text,
        mode -> Text,
        placement -> Text,
        attempt -> Integer,
        order_reference -> Text,
        idempotency_key -> Text,
        fingerprint -> Binary,
        tracking_code -> Text,
        order_source -> Text,
        status -> Text,
        cod_status -> Text,
        picked_up -> Bool,
        payment_type -> Text,
        delivery_fee_paise -> BigInt,
        cod_amount_paise -> BigInt,
        details -> Jsonb,
        receipt -> Binary,
        sequence -> BigInt,
        driver -> Nullable<Jsonb>,
        reason -> Nullable<Text>,
        cod_collected_paise -> Nullable<BigInt>,
        cod_handed_over_paise -> Nullable<BigInt>,
        cod_settled_paise -> Nullable<BigInt>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        pending_since -> Nullable<Timestamptz>,
        request_id -> Text,
        key_id -> Text,
        personal_data_erased_at -> Nullable<Timestamptz>,
        meaning -> Nullable<Binary>,
        after_failure -> Nullable<Jsonb>,
    }
}

diesel::table! {
    order_events (order_id, sequence, business_id) {
        order_id -> Text,
        sequence -> BigInt,
        event_id -> Text,
        business_id -> Text,
        kind -> Text,
        status -> Text,
        cod_status -> Text,
        data -> Jsonb,
        occurred_at -> Timestamptz,
        recorded_at -> Timestamptz,
        feed_at -> Timestamptz,
        personal_data_erased_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    fleet_reports (order_id, event_id, business_id) {
        business_id -> Text,
        event_id -> Text,
        order_id -> Text,
        fingerprint -> Binary,
        recorded_at -> Timestamptz,
    }
}

diesel::table! {
    simulations (order_id, business_id) {
        order_id -> Text,
        business_id -> Text,
        scenario -> Text,
        steps_done -> Integer,
        next_at -> Timestamptz,
    }
}

diesel::table! {
    erasures (business_id) {
        business_id -> Text,
        requested_at -> Timestamptz,
        after_id -> Text,
        erased -> BigInt,
        not_completed -> BigInt,
        completed_at -> Nullable<Timestamptz>,
        everything -> Bool,
    }
}

diesel::table! {
    delivery_evidence (order_id, attempt, business_id) {
        order_id -> Text,
        attempt -> Integer,
        business_id -> Text,
        record -> Text,
        hash -> Text,
        personal -> Nullable<Text>,
    }
}

diesel::table! {
    delivery_codes (order_id, business_id) {
        order_id -> Text,
        business_id -> Text,
        code -> Text,
        wrong -> Integer,
    }
}
