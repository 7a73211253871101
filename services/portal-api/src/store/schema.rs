//! Diesel's table definitions.

pub(crate) use identity::schema::{accounts, identities, sessions};

diesel::table! {
    businesses (id) {
        id -> Text,
        name -> Text,
        status -> Text,
        live_access -> Bool,
        subscription_state -> Text,
        subscription_plan -> Nullable<Text>,
        requested_plan -> Nullable<Text>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        active_since -> Nullable<Timestamptz>,
        subscription_active_since -> Nullable<Timestamptz>,
        live_access_since -> Nullable<Timestamptz>,
        suspensions -> Int4,
    }
}

diesel::table! {
    business_contacts (business_id) {
        business_id -> Text,
        name -> Nullable<Text>,
        email -> Nullable<Text>,
        phone -> Nullable<Text>,
        gstin -> Nullable<Text>,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    closings (business_id) {
        business_id -> Text,
        requested_at -> Timestamptz,
        by_operator -> Bool,
        reason -> Nullable<Text>,
        restores_live_access -> Bool,
        completed_at -> Nullable<Timestamptz>,
        erase_after -> Nullable<Timestamptz>,
        erased_at -> Nullable<Timestamptz>,
        ending_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    refusals (business_id) {
        business_id -> Text,
        reason -> Text,
        refused_at -> Timestamptz,
        asked_again_at -> Nullable<Timestamptz>,
        note -> Nullable<Text>,
    }
}

diesel::table! {
    staff_notes (business_id, number) {
        business_id -> Text,
        number -> BigInt,
        author -> Text,
        text -> Text,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    memberships (id) {
        id -> Text,
        business_id -> Text,
        account_id -> Text,
        role -> Text,
        created_at -> Timestamptz,
        last_seen_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    staff_roles (account_id) {
        account_id -> Text,
        role -> Text,
        last_seen_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    invitations (id) {
        id -> Text,
        token_hash -> Binary,
        business_id -> Text,
        email -> Text,
        email_key -> Text,
        role -> Text,
        invited_by -> Text,
        invited_by_email -> Text,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
        mailed -> Bool,
    }
}

diesel::table! {
    email_confirmations (token_hash) {
        token_hash -> Binary,
        account_id -> Text,
        email -> Text,
        is_change -> Bool,
        session_id -> Nullable<Text>,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
        used_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    mails (id) {
        id -> BigInt,
        business_id -> Nullable<Text>,
        staff_id -> Nullable<Text>,
        kind -> Text,
        recipient -> Text,
        subject -> Text,
        text_body -> Text,
        html_body -> Text,
        created_at -> Timestamptz,
        due_at -> Timestamptz,
        expires_at -> Timestamptz,
        attempts -> Integer,
        sealed_token -> Nullable<Binary>,
    }
}

diesel::table! {
    audit_log (id) {
        id -> Text,
        business_id -> Text,
        at -> Timestamptz,
        action -> Text,
        actor_type -> Text,
        actor_user_id -> Nullable<Text>,
        actor_email -> Nullable<Text>,
        target_type -> Nullable<Text>,
        target_id -> Nullable<Text>,
        target_label -> Nullable<Text>,
        request_id -> Nullable<Text>,
        details -> Jsonb,
        address -> Nullable<Text>,
    }
}

diesel::table! {
    pickup_profiles (business_id) {
        business_id -> Text,
        business_name -> Text,
        contact_name -> Text,
        phone -> Text,
        address_line1 -> Text,
        address_line2 -> Nullable<Text>,
        city -> Text,
        state -> Text,
        pincode -> Text,
        landmark -> Nullable<Text>,
        latitude -> Nullable<Double>,
        longitude -> Nullable<Double>,
        full_address -> Nullable<Text>,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    go_live_facts (business_id) {
        business_id -> Text,
        successful_test_order_at -> Nullable<Timestamptz>,
        wallet_funded_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    operator_tokens (id) {
        id -> Text,
        name -> Text,
        name_key -> Text,
        role -> Text,
        secret_hash -> Binary,
        previous_hash -> Nullable<Binary>,
        previous_until -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        last_used_at -> Nullable<Timestamptz>,
        disabled_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    business_sso (business_id) {
        business_id -> Text,
        issuer -> Text,
        client_id -> Text,
        sealed_secret -> Binary,
        scopes -> Text,
        groups_claim -> Text,
        group_roles -> Jsonb,
        default_role -> Nullable<Text>,
        allowed_domains -> Array<Text>,
        required -> Bool,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    operator_audit_log (id) {
        id -> Text,
        at -> Timestamptz,
        action -> Text,
        actor_type -> Text,
        actor_id -> Nullable<Text>,
        actor_name -> Text,
        address -> Nullable<Text>,
        about_business -> Nullable<Text>,
        target_type -> Nullable<Text>,
        target_id -> Nullable<Text>,
        target_label -> Nullable<Text>,
        request_id -> Nullable<Text>,
        details -> Jsonb,
    }
}

diesel::table! {
    approval_limit (only_row) {
        only_row -> Bool,
        credits_above_paise -> BigInt,
        changed_at -> Timestamptz,
    }
}

diesel::table! {
    operator_approvals (id) {
        id -> Text,
        kind -> Text,
        about_business -> Nullable<Text>,
        parameters -> Jsonb,
        state -> Text,
        requester_type -> Text,
        requester_id -> Nullable<Text>,
        requester_name -> Text,
        requested_at -> Timestamptz,
        expires_at -> Nullable<Timestamptz>,
        decider_id -> Nullable<Text>,
        decider_email -> Nullable<Text>,
        decided_at -> Nullable<Timestamptz>,
        reason -> Nullable<Text>,
        ended_at -> Nullable<Timestamptz>,
        outcome -> Nullable<Text>,
        booked_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    exports (business_id, id) {
        id -> Text,
        business_id -> Text,
        realm -> Text,
        author -> Text,
        kind -> Text,
        format -> Text,
        filter -> Jsonb,
        shows_customers -> Bool,
        state -> Text,
        failure -> Nullable<Text>,
        attempts -> Int4,
        row_count -> BigInt,
        percent -> Int4,
        chunks -> Int4,
        created_at -> Timestamptz,
        due_at -> Timestamptz,
        completed_at -> Nullable<Timestamptz>,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    export_chunks (business_id, export_id, position) {
        business_id -> Text,
        export_id -> Text,
        position -> Int4,
        content -> Binary,
    }
}

diesel::joinable!(memberships -> businesses (business_id));
diesel::joinable!(invitations -> businesses (business_id));
diesel::joinable!(pickup_profiles -> businesses (business_id));
diesel::joinable!(go_live_facts -> businesses (business_id));
diesel::allow_tables_to_appear_in_same_query!(
    businesses,
    memberships,
    staff_roles,
    invitations,
    audit_log,
    email_confirmations,
    mails,
    pickup_profiles,
    go_live_facts,
);

diesel::joinable!(memberships -> accounts (account_id));
diesel::joinable!(staff_roles -> accounts (account_id));
diesel::joinable!(sessions -> memberships (user_id));
diesel::joinable!(sessions -> businesses (business_id));

/// As `allow_tables_to_appear_in_same_query`, which also implements traits of foreign types.
macro_rules! join_identity {
    ($($own:ident with $foreign:ident),+ $(,)?) => {
        $(
            impl diesel::query_source::TableNotEqual<$own::table> for $foreign::table {}
            impl diesel::query_source::TableNotEqual<$foreign::table> for $own::table {}
        )+
    };
}
join_identity!(
    businesses with accounts,
    go_live_facts with accounts,
    pickup_profiles with accounts,
    businesses with sessions,
    memberships with accounts,
    memberships with sessions,
    memberships with identities,
    staff_roles with accounts,
    staff_roles with sessions,
    email_confirmations with sessions,
);
