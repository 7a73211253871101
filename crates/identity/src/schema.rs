//! Diesel's table definitions.

diesel::table! {
    accounts (id) {
        id -> Text,
        realm -> Text,
        email -> Text,
        email_key -> Nullable<Text>,
        email_verified_at -> Nullable<Timestamptz>,
        name -> Nullable<Text>,
        password_hash -> Nullable<Text>,
        provider_of -> Nullable<Text>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    sessions (id) {
        id -> Text,
        token_hash -> Binary,
        realm -> Text,
        account_id -> Nullable<Text>,
        business_id -> Nullable<Text>,
        user_id -> Nullable<Text>,
        created_at -> Timestamptz,
        last_seen_at -> Timestamptz,
        expires_at -> Timestamptz,
        revoked_at -> Nullable<Timestamptz>,
        user_agent -> Nullable<Text>,
        authenticated_at -> Timestamptz,
        address -> Nullable<Text>,
        new_browser -> Nullable<Bool>,
        single_sign_on -> Bool,
    }
}

diesel::table! {
    password_links (token_hash) {
        token_hash -> Binary,
        account_id -> Text,
        realm -> Text,
        issued_by -> Nullable<Text>,
        mailed_to -> Nullable<Text>,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    identities (account_id, issuer) {
        business_id -> Nullable<Text>,
        issuer -> Text,
        subject -> Text,
        account_id -> Text,
        realm -> Text,
        created_at -> Timestamptz,
        role_lost_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    attempts (id) {
        id -> BigInt,
        scope -> Text,
        subject -> Binary,
        attempted_at -> Timestamptz,
    }
}

diesel::table! {
    sso_log_ins (token_hash) {
        token_hash -> Binary,
        business_id -> Nullable<Text>,
        issuer -> Text,
        purpose -> Text,
        session_hash -> Nullable<Binary>,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    second_factors (account_id) {
        account_id -> Text,
        realm -> Text,
        sealed_secret -> Binary,
        started_at -> Timestamptz,
        confirmed_at -> Nullable<Timestamptz>,
        last_step -> BigInt,
    }
}

diesel::table! {
    recovery_codes (account_id, code_hash) {
        account_id -> Text,
        code_hash -> Binary,
    }
}

diesel::table! {
    log_in_challenges (token_hash) {
        token_hash -> Binary,
        account_id -> Text,
        realm -> Text,
        password_digest -> Binary,
        tries -> Integer,
        created_at -> Timestamptz,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    passkeys (id) {
        id -> Text,
        account_id -> Text,
        realm -> Text,
        credential_id -> Binary,
        credential -> Jsonb,
        sign_count -> BigInt,
        name -> Text,
        created_at -> Timestamptz,
        last_used_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    passkey_ceremonies (ceremony_hash) {
        ceremony_hash -> Binary,
        account_id -> Text,
        realm -> Text,
        state -> Jsonb,
        expires_at -> Timestamptz,
    }
}

diesel::joinable!(sessions -> accounts (account_id));
diesel::allow_tables_to_appear_in_same_query!(accounts, sessions, identities);
