//! Descriptions of the bodies with which an owner sets single sign-on up, as the others in `bodies`.
#![expect(dead_code, reason = "only described")]

use domain::UserId;
use utoipa::ToSchema;

use crate::domain::Role;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct PutSingleSignOn {
    /// Exactly as the provider's metadata names it, such as `https://id.example.com`.
    #[schema(format = "uri", max_length = 2048)]
    issuer: String,
    #[schema(max_length = 256)]
    client_id: String,
    /// Required for another issuer. Left out, the present one is kept.
    #[schema(format = "password", max_length = 1024)]
    client_secret: Option<String>,
    /// In addition to `openid`, separated by spaces. The default is `email profile`.
    #[schema(max_length = 256)]
    scopes: Option<String>,
    /// The claim with the groups of a person. The default is `groups`.
    #[schema(max_length = 100)]
    groups_claim: Option<String>,
    /// Of several groups of a person, the first in this list counts.
    #[schema(max_items = 100)]
    group_roles: Option<Vec<GroupRole>>,
    /// The role of people in none of these groups, and never `owner`. Without one, they cannot log in.
    default_role: Option<Role>,
    /// People get `defaultRole` with a verified e-mail address of one of these domains, or if their `hd` is one. Without any, they
    /// must be in a group. Required with `defaultRole` and without `groupRoles`.
    #[schema(max_items = 20)]
    allowed_domains: Option<Vec<String>>,
    /// Whether only owners may log in with a password. Their open sessions end.
    required: Option<bool>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct LinkUser {
    /// Another user of the business, without a company account so far.
    user_id: UserId,
}

#[derive(ToSchema)]
pub(crate) struct GroupRole {
    #[schema(max_length = 256)]
    group: String,
    role: Role,
}
