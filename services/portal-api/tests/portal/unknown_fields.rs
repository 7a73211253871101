//! Every JSON body refuses fields that the call does not know, and names them: a misspelt one must not be lost silently.

use serde_json::json;

use crate::identity_provider::{IdentityProvider, Key};
use crate::portal::Portal;
use crate::staff::person;

/// Calls without a session.
const OPEN: &[&str] = &[
    "POST /v1/portal/accounts",
    "POST /v1/portal/session",
    "POST /v1/portal/password-resets",
    "POST /v1/portal/password-resets/look-up",
    "POST /v1/portal/password-resets/confirm",
    "POST /v1/portal/invitations/look-up",
    "POST /v1/portal/invitations/accept",
    "POST /v1/portal/session/second-factor",
    "POST /v1/operator/session",
    "POST /v1/operator/session/second-factor",
    "POST /v1/operator/password-links/look-up",
    "POST /v1/operator/password-links/use",
    "POST /v1/operator/sso/log-ins",
];

/// Calls of owners. Bodies that other services read are checked there.
const OF_OWNERS: &[&str] = &[
    "PUT /v1/portal/password",
    "PUT /v1/portal/email",
    "POST /v1/portal/email-confirmations/confirm",
    "PUT /v1/portal/name",
    "PUT /v1/portal/business",
    "POST /v1/portal/business/closing",
    "POST /v1/portal/business/refusal/ask-again",
    "PUT /v1/portal/pickup-profile",
    "PUT /v1/portal/subscription",
    "POST /v1/portal/session/confirm",
    "POST /v1/portal/second-factor/confirm",
    "POST /v1/portal/second-factor/passkeys",
    "POST /v1/portal/invitations",
    "POST /v1/portal/orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/return",
    "POST /v1/portal/orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/delivery-code",
    "PATCH /v1/portal/users/usr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
];

const OF_ADMINISTRATORS: &[&str] = &[
    "PUT /v1/operator/password",
    "PUT /v1/operator/name",
    "POST /v1/operator/session/confirm",
    "POST /v1/operator/second-factor/confirm",
    "POST /v1/operator/second-factor/passkeys",
    "POST /v1/operator/staff",
    "PATCH /v1/operator/staff/stf_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "POST /v1/operator/tokens",
    "POST /v1/operator/tokens/opt_01ARZ3NDEKTSV4RRFFQ69G5FAV/rotate",
    "POST /v1/operator/approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/approve",
    "POST /v1/operator/approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/reject",
    "PATCH /v1/operator/businesses/{business}",
    "POST /v1/operator/businesses/{business}/closing",
    "POST /v1/operator/businesses/{business}/refusal",
    "POST /v1/operator/businesses/{business}/password-resets",
    "POST /v1/operator/businesses/{business}/remittances",
    "POST /v1/operator/businesses/{business}/remittances/check",
    "POST /v1/operator/businesses/{business}/orders/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/return",
    "PUT /v1/operator/businesses/{business}/cod/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV/difference",
];

#[tokio::test]
async fn every_call_names_all_unknown_fields() {
    let key = Key::new("key-1", 1);
    let provider = IdentityProvider::start(&key);
    let portal = Portal::with_provider(&provider, &[]).await;
    let owner = portal.owner("owner@shop.example").await;
    let (asha, _) = person(&portal, "asha@carrier.example", "administrator").await;
    for (mut client, calls) in
        [(portal.stranger(), OPEN), (owner.client, OF_OWNERS), (asha, OF_ADMINISTRATORS)]
    {
        for call in calls {
            let call = call.replace("{business}", &owner.business);
            let (method, path) = call.split_once(' ').unwrap();
            let body = json!({ "surprise": 1, "Password": "x" }).to_string();
            let refused = client.raw(method.parse().unwrap(), path, "application/json", &body).await;
            assert_eq!(refused.status, 400, "{call}: {refused:?}");
            for field in ["surprise", "Password"] {
                let errors = refused.body["errors"].as_array().unwrap();
                let named = errors.iter().any(|one| one["field"] == field && one["code"] == "unknown_field");
                assert!(named, "{call}: {field}: {refused:?}");
            }
        }
    }
}
