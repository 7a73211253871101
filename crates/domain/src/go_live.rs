//! The conditions for live orders (SPECIFICATION §3.2).

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// One item of the go-live list.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum GoLiveItem {
    SuccessfulTestOrder,
    BusinessActive,
    SubscriptionActive,
    LiveAccessActive,
    WalletFunded,
    PickupProfileComplete,
}

impl GoLiveItem {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The text in the checklist.
    pub fn label(self) -> &'static str {
        match self {
            Self::SuccessfulTestOrder => "At least one successful test order received",
            Self::BusinessActive => "Business is active",
            Self::SubscriptionActive => "Subscription is active",
            Self::LiveAccessActive => "Live access is active",
            Self::WalletFunded => "Wallet is funded",
            Self::PickupProfileComplete => "Pickup profile is complete",
        }
    }
}

/// The facts about a business, one per item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoLiveFacts {
    pub successful_test_order: bool,
    pub business_active: bool,
    pub subscription_active: bool,
    pub live_access_active: bool,
    pub wallet_funded: bool,
    pub pickup_profile_complete: bool,
}

impl GoLiveFacts {
    pub fn is_done(&self, item: GoLiveItem) -> bool {
        match item {
            GoLiveItem::SuccessfulTestOrder => self.successful_test_order,
            GoLiveItem::BusinessActive => self.business_active,
            GoLiveItem::SubscriptionActive => self.subscription_active,
            GoLiveItem::LiveAccessActive => self.live_access_active,
            GoLiveItem::WalletFunded => self.wallet_funded,
            GoLiveItem::PickupProfileComplete => self.pickup_profile_complete,
        }
    }

    /// The open items, in the order of the list. Empty means unlocked.
    pub fn missing(&self) -> Vec<GoLiveItem> {
        GoLiveItem::VARIANTS.iter().copied().filter(|item| !self.is_done(*item)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_fact_locks_and_only_all_facts_unlock() {
        let all = GoLiveFacts {
            successful_test_order: true,
            business_active: true,
            subscription_active: true,
            live_access_active: true,
            wallet_funded: true,
            pickup_profile_complete: true,
        };
        assert_eq!(all.missing(), []);
        assert_eq!(GoLiveFacts::default().missing(), GoLiveItem::VARIANTS);
        assert_eq!(GoLiveFacts { wallet_funded: false, ..all }.missing(), [GoLiveItem::WalletFunded]);
        assert_eq!(GoLiveFacts { business_active: false, ..all }.missing(), [GoLiveItem::BusinessActive]);
    }
}
