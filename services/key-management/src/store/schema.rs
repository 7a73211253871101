//! The tables, for diesel.

diesel::table! {
    api_keys (id) {
        id -> Text,
        business_id -> Text,
        mode -> Text,
        name -> Text,
        key_hash -> Binary,
        prefix -> Text,
        last_four -> Text,
        created_at -> Timestamptz,
        last_used_at -> Nullable<Timestamptz>,
        revoked_at -> Nullable<Timestamptz>,
        expires_at -> Nullable<Timestamptz>,
        rotated_from -> Nullable<Text>,
        created_by -> Nullable<Text>,
        scopes -> Nullable<Array<Text>>,
        ip_allow_list -> Nullable<Array<Text>>,
    }
}
