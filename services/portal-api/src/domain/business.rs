//! A business, and how far it is on its way to ordering for real.

use chrono::{DateTime, Utc};
use domain::{BusinessId, GoLiveFacts, GoLiveItem};
use internal_api::ordering::PickupProfile;
use strum::{Display, EnumString, IntoStaticStr};

use super::{Subscription, SubscriptionState};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum BusinessStatus {
    Active,
    /// Not yet approved by the operator, or no longer. Test mode works all the same.
    Inactive,
    Suspended,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Business {
    pub(crate) id: BusinessId,
    pub(crate) name: String,
    pub(crate) status: BusinessStatus,
    pub(crate) live_access: bool,
    pub(crate) subscription: Subscription,
    pub(crate) created_at: DateTime<Utc>,
}

/// All that this service knows of a business and that decides whether it may order for real.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) business: Business,
    pub(crate) successful_test_order: bool,
    pub(crate) wallet_funded: bool,
    /// Kept only when complete.
    pub(crate) pickup: Option<PickupProfile>,
    pub(crate) since: DoneSince,
}

/// Since when each item of the go-live list is done, as far as that is known; the profile's is its latest change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DoneSince {
    pub(crate) successful_test_order: Option<DateTime<Utc>>,
    pub(crate) active: Option<DateTime<Utc>>,
    pub(crate) subscription: Option<DateTime<Utc>>,
    pub(crate) live_access: Option<DateTime<Utc>>,
    pub(crate) wallet_funded: Option<DateTime<Utc>>,
    pub(crate) profile: Option<DateTime<Utc>>,
}

impl DoneSince {
    pub(crate) fn of(&self, item: GoLiveItem) -> Option<DateTime<Utc>> {
        match item {
            GoLiveItem::SuccessfulTestOrder => self.successful_test_order,
            GoLiveItem::BusinessActive => self.active,
            GoLiveItem::SubscriptionActive => self.subscription,
            GoLiveItem::LiveAccessActive => self.live_access,
            GoLiveItem::WalletFunded => self.wallet_funded,
            GoLiveItem::PickupProfileComplete => self.profile,
        }
    }
}

impl Standing {
    pub(crate) fn facts(&self) -> GoLiveFacts {
        GoLiveFacts {
            successful_test_order: self.successful_test_order,
            business_active: self.business.status == BusinessStatus::Active,
            subscription_active: self.business.subscription.state == SubscriptionState::Active,
            live_access_active: self.business.live_access,
            wallet_funded: self.wallet_funded,
            pickup_profile_complete: self.pickup.is_some(),
        }
    }

    /// The open items; empty means that live orders are unlocked.
    pub(crate) fn missing(&self) -> Vec<GoLiveItem> {
        self.facts().missing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_hangs_on_its_own_fact() {
        let profile = PickupProfile {
            business_name: "Shop".into(),
            contact_name: "Asha".into(),
            phone: "+919876543210".into(),
            address_line1: "1 MG Road".into(),
            address_line2: None,
            city: "Bengaluru".into(),
            state: "Karnataka".into(),
            pincode: "560001".into(),
            landmark: None,
            latitude: None,
            longitude: None,
            full_address: None,
        };
        let business = Business {
            id: "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            name: "Shop".into(),
            status: BusinessStatus::Active,
            live_access: true,
            subscription: Subscription::none().request("starter").activate(),
            created_at: DateTime::UNIX_EPOCH,
        };
        let ready = Standing {
            business,
            successful_test_order: true,
            wallet_funded: true,
            pickup: Some(profile),
            since: DoneSince::default(),
        };
        assert!(ready.missing().is_empty());
        type TakeAway = fn(&mut Standing);
        let cases: [(GoLiveItem, TakeAway); 7] = [
            (GoLiveItem::SuccessfulTestOrder, |s| s.successful_test_order = false),
            (GoLiveItem::BusinessActive, |s| s.business.status = BusinessStatus::Inactive),
            (GoLiveItem::BusinessActive, |s| s.business.status = BusinessStatus::Suspended),
            (GoLiveItem::SubscriptionActive, |s| {
                s.business.subscription = s.business.subscription.deactivate()
            }),
            (GoLiveItem::LiveAccessActive, |s| s.business.live_access = false),
            (GoLiveItem::WalletFunded, |s| s.wallet_funded = false),
            (GoLiveItem::PickupProfileComplete, |s| s.pickup = None),
        ];
        for (item, take_away) in cases {
            let mut standing = ready.clone();
            take_away(&mut standing);
            assert_eq!(standing.missing(), [item]);
        }
    }
}
