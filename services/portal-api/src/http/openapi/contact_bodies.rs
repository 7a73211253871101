//! Descriptions of the bodies of calls about the contact of a business, its refusal and closing, and the notes of the staff. Handlers
//! parse them by hand.
#![expect(dead_code, reason = "only described")]

use utoipa::ToSchema;

/// Each field is optional.
#[derive(ToSchema)]
pub(crate) struct ChangeContact {
    #[schema(max_length = 120)]
    name: Option<String>,
    #[schema(format = "email")]
    email: Option<String>,
    /// With the country, such as +919800000001.
    phone: Option<String>,
    /// The number for the goods and services tax of India.
    #[schema(min_length = 15, max_length = 15)]
    gstin: Option<String>,
}

#[derive(ToSchema)]
pub(crate) struct BeginClosing {
    #[schema(max_length = 500)]
    reason: Option<String>,
}

#[derive(ToSchema)]
pub(crate) struct BeginClosingOf {
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

#[derive(ToSchema)]
pub(crate) struct RefuseBusiness {
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

#[derive(ToSchema)]
pub(crate) struct AskAgain {
    /// What has changed since the refusal.
    #[schema(max_length = 500)]
    note: Option<String>,
}

#[derive(ToSchema)]
pub(crate) struct AddStaffNote {
    #[schema(min_length = 1, max_length = 2000)]
    text: String,
}
