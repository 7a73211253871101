//! Which calls of the operator need a second person (`WAYBILL_APPROVALS__…`).

use domain::Paise;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, SettingErrors};

use crate::approvals::domain::ApprovalPolicy;

/// By default, every call is executed at once; production requires a limit for money. Set these after the last instance of a release without approvals has ended.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Approvals {
    /// Credits and debits of a wallet above this amount need a second person; `0` for all. Required in production; 5000000
    /// (₹50,000) suits most. Administrators can choose a lower amount in the console. Unset: none.
    #[schemars(range(min = 0, max = 100_000_000_000_i64))]
    pub credits_above_paise: Option<i64>,
    /// Whether lifting the suspension of a business needs a second person.
    pub lift_suspension: bool,
    /// Whether the operator's password reset links for users need a second person.
    pub reset_links: bool,
}

impl Approvals {
    pub(crate) fn policy(&self) -> ApprovalPolicy {
        ApprovalPolicy {
            credits_above: self.credits_above_paise.map(Paise::new),
            lift_suspension: self.lift_suspension,
            reset_links: self.reset_links,
        }
    }

    pub(crate) fn check(&self, errors: &mut SettingErrors, environment: Environment) {
        let range = 0..=Paise::REQUEST_MAX.get();
        if self.credits_above_paise.is_some_and(|limit| !range.contains(&limit)) {
            errors.add("WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE", "must be between 0 and 100000000000");
        }
        if self.credits_above_paise.is_none() && environment == Environment::Production {
            errors.add(
                "WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE",
                "is missing: set the amount above which a second person approves credits and debits of wallets, such as 5000000 (₹50,000)",
            );
        }
    }
}
