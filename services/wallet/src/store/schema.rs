//! The tables in diesel's terms. Their constraints are in `migrations/`.

diesel::table! {
    wallets (business_id) {
        business_id -> Text,
        balance_paise -> BigInt,
        entry_count -> BigInt,
        low_balance_threshold_paise -> Nullable<BigInt>,
        funded_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    transfers (id, business_id) {
        id -> Text,
        kind -> Text,
        business_id -> Text,
        order_id -> Nullable<Text>,
        reference -> Nullable<Text>,
        reverses -> Nullable<Text>,
        created_at -> Timestamptz,
        reason -> Nullable<Text>,
        after_entry -> Nullable<BigInt>,
    }
}

diesel::table! {
    entries (transfer_id, account, business_id) {
        transfer_id -> Text,
        account -> Text,
        business_id -> Text,
        amount_paise -> BigInt,
        sequence -> Nullable<BigInt>,
        balance_after_paise -> Nullable<BigInt>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    debits (order_id, attempt, business_id) {
        order_id -> Text,
        attempt -> Integer,
        business_id -> Text,
        amount_paise -> BigInt,
        outcome -> Text,
        transfer_id -> Nullable<Text>,
        balance_after_paise -> BigInt,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    top_ups (id, business_id) {
        id -> Text,
        business_id -> Text,
        provider -> Text,
        provider_reference -> Nullable<Text>,
        payment_reference -> Nullable<Text>,
        idempotency_key -> Nullable<Text>,
        amount_paise -> BigInt,
        status -> Text,
        transfer_id -> Nullable<Text>,
        created_at -> Timestamptz,
        settled_at -> Nullable<Timestamptz>,
        next_check_at -> Timestamptz,
    }
}

diesel::table! {
    top_up_reversals (provider, reference) {
        provider -> Text,
        reference -> Text,
        business_id -> Text,
        top_up_id -> Text,
        payment_reference -> Text,
        amount_paise -> BigInt,
        received_at -> Timestamptz,
    }
}

diesel::table! {
    payment_notices (provider, event_id) {
        provider -> Text,
        event_id -> Text,
        business_id -> Text,
        top_up_id -> Text,
        kind -> Text,
        payment_reference -> Nullable<Text>,
        outcome -> Text,
        received_at -> Timestamptz,
    }
}

diesel::table! {
    cash (business_id, order_id) {
        order_id -> Text,
        business_id -> Text,
        order_reference -> Text,
        expected_paise -> Nullable<BigInt>,
        delivered_at -> Nullable<Timestamptz>,
        collected_paise -> Nullable<BigInt>,
        collected_at -> Nullable<Timestamptz>,
        handed_over_paise -> Nullable<BigInt>,
        handed_over_at -> Nullable<Timestamptz>,
        settled_paise -> Nullable<BigInt>,
        settled_at -> Nullable<Timestamptz>,
        due_since -> Timestamptz,
        discrepant -> Bool,
    }
}

diesel::table! {
    remittances (id, business_id) {
        id -> Text,
        business_id -> Text,
        bank_reference -> Text,
        paid_on -> Date,
        order_count -> BigInt,
        total_paise -> BigInt,
        created_by -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    remittance_orders (business_id, order_id) {
        business_id -> Text,
        order_id -> Text,
        remittance_id -> Text,
        amount_paise -> BigInt,
        note -> Nullable<Text>,
    }
}

diesel::table! {
    cash_differences (business_id, order_id) {
        business_id -> Text,
        order_id -> Text,
        reported_paise -> Nullable<BigInt>,
        owner -> Nullable<Text>,
        note -> Nullable<Text>,
        resolution -> Nullable<Text>,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    reconciliation_runs (only_row) {
        only_row -> Bool,
        next_at -> Timestamptz,
        holder -> Nullable<Text>,
        completed_at -> Nullable<Timestamptz>,
        duration_ms -> Nullable<BigInt>,
        rows_checked -> Nullable<BigInt>,
        under_way -> BigInt,
    }
}

diesel::table! {
    reconciliation_cursors (feed) {
        feed -> Text,
        recent -> Text,
        sweep -> Text,
        swept_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    reconciliation_findings (check_name, subject) {
        check_name -> Text,
        subject -> Text,
        detail -> Text,
        found_at -> Timestamptz,
    }
}

diesel::allow_tables_to_appear_in_same_query!(entries, transfers);
diesel::allow_tables_to_appear_in_same_query!(cash, remittance_orders, remittances);
