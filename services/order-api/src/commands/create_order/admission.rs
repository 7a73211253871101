//! Whether a business may place an order, and what its pickup is.

use domain::Mode;
use internal_api::keys::AuthenticatedKey;
use internal_api::ordering::{OrderingContext, PickupProfile};

use super::outcome::{CreateError, LockedBusiness};
use crate::domain::{OrderDraft, Pickup, Place, warn_of_place};
use crate::state::State;
use crate::store::orders;

/// Refuses live orders of a locked business. Returns what portal-api knows of a live business; test orders need no
/// check.
pub(super) async fn check_live_access(
    state: &State,
    caller: &AuthenticatedKey,
) -> Result<Option<OrderingContext>, CreateError> {
    if caller.mode == Mode::Test {
        return Ok(None);
    }
    let context = state.live_access.context(caller.business_id).await?;
    if context.missing.is_empty() {
        return Ok(Some(context));
    }
    let was_live = async |conn: &mut _| orders::any_live_order(conn, caller.business_id).await;
    let business = if context.closing {
        LockedBusiness::Closing
    } else if state.unit.database.read(was_live).await? {
        LockedBusiness::WasLive
    } else {
        LockedBusiness::New
    };
    Err(CreateError::Locked { missing: context.missing, business })
}

/// Takes missing pickup fields from the pickup profile. A business without a complete profile may place test orders;
/// they get a warning.
pub(super) async fn complete_pickup(
    state: &State,
    caller: &AuthenticatedKey,
    context: Option<OrderingContext>,
    mut draft: OrderDraft,
) -> Result<OrderDraft, CreateError> {
    let given = draft.pickup.take().unwrap_or_default();
    let has_partial_address = given.has_partial_address();
    let pickup = if given.is_partial() {
        let context = match context {
            Some(context) => context,
            None => state.live_access.context(caller.business_id).await?,
        };
        let filled = given.filled_from(context.pickup.map(pickup_of).unwrap_or_default());
        warn_of_place("pickup", &filled.place, &mut draft.warnings);
        filled
    } else {
        given
    };
    if pickup.is_usable() {
        draft.pickup = Some(pickup);
        if has_partial_address {
            draft.warnings.add(
                "pickup",
                "pickup_address_replaced",
                "The pickup gives only part of an address, so that of the pickup profile is used. Send addressLine1, city and pincode, or fullAddress, or none of it.",
            );
        }
    } else {
        draft.pickup = Some(pickup).filter(|pickup| !pickup.is_empty());
        draft.warnings.add(
            "pickup",
            "pickup_profile_incomplete",
            "The pickup has no whole address and the pickup profile is not complete; a driver needs one of them.",
        );
    }
    Ok(draft)
}

fn pickup_of(profile: PickupProfile) -> Pickup {
    Pickup {
        business_name: Some(profile.business_name),
        contact_name: Some(profile.contact_name),
        phone: Some(profile.phone),
        place: Place {
            address_line1: Some(profile.address_line1),
            address_line2: profile.address_line2,
            city: Some(profile.city),
            state: Some(profile.state),
            pincode: Some(profile.pincode),
            landmark: profile.landmark,
            latitude: profile.latitude,
            longitude: profile.longitude,
            full_address: profile.full_address,
        },
    }
}
