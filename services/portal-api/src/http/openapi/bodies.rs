//! Descriptions of request bodies. Handlers parse the bodies by hand, so that one response lists all errors.
#![expect(dead_code, reason = "only described")]

use chrono::{DateTime, NaiveDate, Utc};
use domain::{BusinessId, EventKind, KeyScope, Mode, Paise, TransferId};
use internal_api::ordering::PickupProfile;
use internal_api::orders::details;
use serde_json::Value;
use utoipa::ToSchema;

use crate::domain::{OperatorRole, Role};

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SignUp {
    #[schema(max_length = 120)]
    business_name: String,
    #[schema(format = "email")]
    email: String,
    /// 8 to 200 characters.
    #[schema(format = "password")]
    password: String,
}

#[derive(ToSchema)]
pub(crate) struct LogIn {
    #[schema(format = "email")]
    email: String,
    #[schema(format = "password")]
    password: String,
}

/// Either field.
#[derive(ToSchema)]
pub(crate) struct SecondStep {
    /// Six digits of the authenticator app, or a recovery code.
    code: Option<String>,
    /// `AuthenticationResponseJSON` of WebAuthn.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    passkey: Option<Value>,
}

#[derive(ToSchema)]
pub(crate) struct AddPasskey {
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    /// `RegistrationResponseJSON` of WebAuthn.
    #[schema(value_type = HashMap<String, Value>)]
    passkey: Value,
}

#[derive(ToSchema)]
pub(crate) struct AppCode {
    /// Six digits of the authenticator app.
    code: String,
}

/// The password, with a code if the account has a second factor; or a passkey alone.
#[derive(ToSchema)]
pub(crate) struct ConfirmSession {
    #[schema(format = "password")]
    password: Option<String>,
    /// Six digits of the authenticator app, or a recovery code.
    code: Option<String>,
    /// `AuthenticationResponseJSON` of WebAuthn.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    passkey: Option<Value>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ChangePassword {
    #[schema(format = "password")]
    current_password: String,
    /// 8 to 200 characters.
    #[schema(format = "password")]
    new_password: String,
}

#[derive(ToSchema)]
pub(crate) struct ChangeEmail {
    #[schema(format = "email")]
    email: String,
}

#[derive(ToSchema)]
pub(crate) struct ChangeName {
    /// `null` removes the name.
    #[schema(required, max_length = 100)]
    name: Option<String>,
}

#[derive(ToSchema)]
pub(crate) struct ChangeStaffName {
    #[schema(min_length = 1, max_length = 120)]
    name: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct RenameBusiness {
    #[schema(max_length = 120)]
    business_name: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SwitchBusiness {
    business_id: BusinessId,
}

#[derive(ToSchema)]
pub(crate) struct RequestPasswordReset {
    #[schema(format = "email")]
    email: String,
}

#[derive(ToSchema)]
pub(crate) struct Invite {
    #[schema(format = "email")]
    email: String,
    role: Role,
}

#[derive(ToSchema)]
pub(crate) struct ChangeRole {
    role: Role,
}

#[derive(ToSchema)]
pub(crate) struct LinkToken {
    /// The part of the link after `#token=`.
    token: String,
}

#[derive(ToSchema)]
pub(crate) struct TokenAndPassword {
    /// The part of the link after `#token=`.
    token: String,
    /// 8 to 200 characters.
    #[schema(format = "password")]
    password: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct PickupProfileView {
    business_name: Option<String>,
    contact_name: Option<String>,
    phone: Option<String>,
    address_line1: Option<String>,
    address_line2: Option<String>,
    city: Option<String>,
    state: Option<String>,
    pincode: Option<String>,
    landmark: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    full_address: Option<String>,
    complete: bool,
    /// The required fields that are missing.
    missing: Vec<String>,
}

#[derive(ToSchema)]
pub(crate) struct RequestSubscription {
    plan: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct CreateApiKey {
    mode: Mode,
    #[schema(max_length = 80)]
    name: String,
    /// When the key stops working, at most ten years ahead. Default: never.
    expires_at: Option<DateTime<Utc>>,
    /// What the key may do. Default: everything.
    #[schema(min_items = 1)]
    scopes: Option<Vec<KeyScope>>,
    /// The networks or addresses from which the key may be used, IPv4 or IPv6, such as `203.0.113.0/24`. Default: everywhere.
    #[schema(min_items = 1, max_items = 20)]
    ip_allow_list: Option<Vec<String>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct RotateApiKey {
    /// How long the old key keeps working: 0, 900, 3600, 21600 or 86400. It ends earlier if the key expires earlier.
    grace_seconds: i32,
    /// When the new key stops working. Default: when the old key would have expired. The new key has the scopes and the allow-list of
    /// the old one.
    expires_at: Option<DateTime<Utc>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct RevokeApiKey {
    /// Whether the keys that this one replaced keep working until the end of their grace period. Default: false.
    keep_predecessor: Option<bool>,
}

#[derive(ToSchema)]
pub(crate) struct CancelOrder {
    #[schema(max_length = 1000)]
    reason: Option<String>,
}

#[derive(ToSchema)]
pub(crate) struct Reattempt {
    /// The day in India, from today to 14 days ahead. Default: as soon as possible.
    date: Option<NaiveDate>,
    /// For the driver.
    #[schema(max_length = 1000)]
    note: Option<String>,
}

/// Either field, or both.
#[derive(ToSchema)]
pub(crate) struct CorrectDelivery {
    phone: Option<String>,
    /// The whole address, which replaces the old one.
    delivery: Option<details::DeliveryAddress>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct AcceptedBody {
    order_reference: String,
    order_source: String,
    customer: details::Customer,
    delivery: details::DeliveryAddress,
    pickup: Option<PickupProfile>,
    package: Option<details::Package>,
    payment: details::Payment,
    notes: Option<details::Notes>,
}

#[derive(ToSchema)]
pub(crate) struct Simulate {
    /// An event kind, or `auto` for all remaining events.
    event: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct SetThreshold {
    /// `null` restores the operator's default.
    #[schema(required)]
    threshold_paise: Option<Paise>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct TopUp {
    amount_paise: Paise,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct CreateEndpoint {
    #[schema(max_length = 2048)]
    url: String,
    /// Default: the ten kinds of the default subscription.
    events: Option<Vec<EventKind>>,
    /// Default: both.
    modes: Option<Vec<Mode>>,
    max_per_second: Option<i32>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct UpdateEndpoint {
    url: Option<String>,
    events: Option<Vec<EventKind>>,
    modes: Option<Vec<Mode>>,
    /// `active` or `paused`.
    status: Option<String>,
    /// 0 removes the limit.
    max_per_second: Option<i32>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct RotateSecret {
    /// How long the current secret keeps signing unless the new one is activated earlier. Default: 24 hours.
    grace_seconds: Option<i32>,
    /// Whether to replace an already staged secret.
    replace_staged: Option<bool>,
}

#[derive(ToSchema)]
pub(crate) struct Recover {
    since: DateTime<Utc>,
    until: Option<DateTime<Utc>>,
}

/// The data that the receiver got. Send either `body` or `bodyBase64`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct VerifySignature {
    timestamp: String,
    signature: String,
    /// The raw text.
    body: Option<String>,
    body_base64: Option<String>,
    /// The header of the signature. Default: `Service-Signature`.
    header: Option<String>,
    /// `webhook-id`, for Standard Webhooks.
    id: Option<String>,
}

/// Send either `token`, or `email` and `password`.
#[derive(ToSchema)]
pub(crate) struct OperatorLogIn {
    #[schema(format = "email")]
    email: Option<String>,
    #[schema(format = "password")]
    password: Option<String>,
    #[schema(format = "password")]
    token: Option<String>,
}

#[derive(ToSchema)]
pub(crate) struct InviteStaff {
    #[schema(format = "email")]
    email: String,
    #[schema(max_length = 120)]
    name: String,
    role: OperatorRole,
}

#[derive(ToSchema)]
pub(crate) struct ChangeStaffRole {
    role: OperatorRole,
}

#[derive(ToSchema)]
pub(crate) struct CreateOperatorToken {
    /// Unique among the tokens that work.
    #[schema(max_length = 120)]
    name: String,
    role: OperatorRole,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct RotateOperatorToken {
    /// How long the old secret keeps working: 0, 900, 3600, 21600 or 86400.
    grace_seconds: i32,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ChangeBusiness {
    /// `active`, `inactive` or `suspended`.
    status: Option<String>,
    /// `active` or `inactive`.
    subscription: Option<String>,
    /// `active` or `inactive`.
    live_access: Option<String>,
    /// Only with `subscription` `active`: the plan that you expect to become active, or null for none. If the business has
    /// requested another plan in the meantime, nothing changes and the response is 409 `plan_changed`.
    plan: Option<String>,
    /// Only with `status` `suspended`: why. The owners read it in their mail and in the audit log.
    #[schema(max_length = 500)]
    reason: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct CreditWallet {
    amount_paise: Paise,
    #[schema(max_length = 128)]
    reference: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct DebitWallet {
    amount_paise: Paise,
    #[schema(max_length = 128)]
    reference: String,
    /// For the audit logs.
    #[schema(max_length = 500)]
    reason: String,
    /// The credit, top-up or refund that it takes back.
    reverses: Option<TransferId>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct ApprovalLimit {
    /// Credits and debits above this amount need a second person; `0` for all. `null` removes the limit that administrators
    /// chose: the setting applies.
    #[schema(required)]
    credits_above_paise: Option<Paise>,
}

#[derive(ToSchema)]
pub(crate) struct ApproveRequest {
    #[schema(max_length = 500)]
    reason: Option<String>,
}

#[derive(ToSchema)]
pub(crate) struct RejectRequest {
    #[schema(max_length = 500)]
    reason: String,
}

#[derive(ToSchema)]
pub(crate) struct StartSso {
    /// `log_in` to open a session, `confirm` before a sensitive call, or `link` to log in with single sign-on from now on.
    purpose: String,
}

/// Of the parameters of the URL: `state` and `iss`, and either `code` or `error`.
#[derive(ToSchema)]
pub(crate) struct CompleteSso {
    state: String,
    #[schema(max_length = 8192)]
    code: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct StartBusinessSso {
    /// `log_in` to open a session, or `confirm` before a sensitive call.
    purpose: String,
    /// Required to log in.
    business_id: Option<String>,
}

/// The business of the page, and the parameters of its URL: `state` and `iss`, and either `code` or `error`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct CompleteBusinessSso {
    business_id: String,
    state: String,
    #[schema(max_length = 8192)]
    code: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}
