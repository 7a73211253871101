//! A business, and its progress towards live orders.

use chrono::{DateTime, Utc};
use domain::{BusinessId, GoLiveFacts, GoLiveItem};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::business::domain::{PickupProfile, Subscription, SubscriptionState};

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum BusinessStatus {
    Active,
    /// Not approved by the operator. Test mode works.
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

impl Business {
    /// Whether the operator has not approved it, or has granted no live access.
    pub(crate) fn awaits_operator(&self) -> bool {
        match self.status {
            BusinessStatus::Inactive => true,
            BusinessStatus::Active => !self.live_access,
            BusinessStatus::Suspended => false,
        }
    }

    /// Whether the operator has approved it, or granted live access, since. The end of a suspension is no approval.
    pub(crate) fn got_on_since(&self, before: &Self) -> bool {
        let approved = (before.status, self.status) == (BusinessStatus::Inactive, BusinessStatus::Active);
        approved || (self.live_access && !before.live_access)
    }
}

/// Everything that decides whether a business may place live orders.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) business: Business,
    pub(crate) successful_test_order: bool,
    pub(crate) wallet_funded: bool,
    /// `None` until it is complete.
    pub(crate) pickup: Option<PickupProfile>,
    pub(crate) since: DoneSince,
    /// Whether its closing has begun, or is completed.
    pub(crate) closing: bool,
}

/// When each item of the go-live checklist was completed, if known. For the profile it is the latest change.
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

    /// The open items. Live orders are unlocked when there are none.
    pub(crate) fn missing(&self) -> Vec<GoLiveItem> {
        self.facts().missing()
    }
}

/// A fact of the go-live checklist that another service reports. Once recorded it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoLiveFact {
    SuccessfulTestOrder,
    WalletFunded,
}

/// What the operator's list is filtered by: the status of a business, or that it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ListedStatus {
    Active,
    Inactive,
    Suspended,
    Closed,
}

/// A business in the operator's list.
pub(crate) struct ListedBusiness {
    pub(crate) standing: Standing,
    /// Whether its closing is completed.
    pub(crate) closed: bool,
    /// Whether the operator refused it, and it has not asked again.
    pub(crate) refused: bool,
    /// Whether it asked again after a refusal.
    pub(crate) asked_again: bool,
    pub(crate) owner_email: String,
}

/// Selects businesses for the operator's list; absent fields match all.
#[derive(Clone, Debug, Default)]
pub(crate) struct BusinessFilter {
    pub(crate) only: Option<BusinessId>,
    /// An id, or part of the name or of a user's e-mail address; case does not matter.
    pub(crate) search: Option<String>,
    pub(crate) status: Option<ListedStatus>,
    pub(crate) subscription: Option<SubscriptionState>,
    /// Leaves only businesses that wait for their approval, or asked again after a refusal, and are not being closed.
    pub(crate) awaits_review: bool,
    /// Leaves out businesses that are being closed or are closed, or were refused and have not asked again.
    pub(crate) undecided: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_business_waits_for_the_operator_until_it_is_approved_and_has_live_access() {
        use BusinessStatus::{Active, Inactive, Suspended};
        let business = |status, live_access| Business {
            id: "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            name: "Shop".to_owned(),
            status,
            live_access,
            subscription: Subscription {
                state: SubscriptionState::Required,
                plan: None,
                requested_plan: None,
            },
            created_at: DateTime::UNIX_EPOCH,
        };
        for (status, live_access, waits) in [
            (Inactive, false, true),
            (Inactive, true, true),
            (Active, false, true),
            (Active, true, false),
            (Suspended, false, false),
        ] {
            assert_eq!(business(status, live_access).awaits_operator(), waits, "{status} {live_access}");
        }
        let waiting = business(Inactive, false);
        assert!(
            business(Active, false).got_on_since(&waiting) && business(Inactive, true).got_on_since(&waiting)
        );
        assert!(!business(Suspended, false).got_on_since(&waiting) && !waiting.got_on_since(&waiting));
        assert!(!waiting.got_on_since(&business(Active, true)));
        assert!(!business(Active, false).got_on_since(&business(Suspended, false)), "lifted");
    }

    #[test]
    fn each_item_depends_on_its_own_fact() {
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
            closing: false,
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
