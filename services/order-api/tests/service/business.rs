//! A business in the fakes of the peers, and its calls of the APIs.

use anyhow::Context;
use demo::clients::{Fleet, Integration};
use demo::sample_order;
use domain::{ApiKey, ApiKeyId, BusinessId, GoLiveItem, KeyRestrictions, KeySegment, Mode};
use events::Body;
use internal_api::keys::AuthenticatedKey;
use internal_api::ordering::PickupProfile;

use crate::harness::{OrderApi, text};
use crate::peers::Peers;

pub(crate) struct Business {
    pub(crate) id: BusinessId,
    pub(crate) test_key: String,
    pub(crate) live_key: String,
    pub(crate) fleet: Fleet,
    peers: Peers,
    base: String,
}

impl OrderApi {
    /// A business with live access, this balance, and a key for each mode.
    pub(crate) fn business(&self, balance: i64) -> Business {
        let id = self.business_id();
        self.peers.set_ordering(id, &[], Some(pickup_profile()));
        self.peers.set_balance(id, balance);
        let token = self.settings.fleet.token.expose();
        Business {
            id,
            test_key: self.key(id, Mode::Test),
            live_key: self.key(id, Mode::Live),
            fleet: Fleet::new(&self.base(), token).unwrap(),
            peers: self.peers.clone(),
            base: self.base(),
        }
    }

    /// The id of a new business.
    pub(crate) fn business_id(&self) -> BusinessId {
        BusinessId::generate(&self.clock, &self.entropy)
    }

    /// Another key.
    pub(crate) fn key(&self, business_id: BusinessId, mode: Mode) -> String {
        self.restricted_key(business_id, mode, KeyRestrictions::default())
    }

    pub(crate) fn restricted_key(
        &self,
        business_id: BusinessId,
        mode: Mode,
        restrictions: KeyRestrictions,
    ) -> String {
        let segment = KeySegment::new(&self.settings.brand.key_segment).unwrap();
        let key = ApiKey::generate(mode, &segment, &self.entropy);
        let key_id = ApiKeyId::generate(&self.clock, &self.entropy);
        let known = AuthenticatedKey { key_id, business_id, mode, expires_at: None, restrictions };
        self.peers.know_key(key.expose(), known);
        key.expose().to_owned()
    }

    /// Changes the missing go-live items of a business, and announces the change.
    pub(crate) async fn set_missing(&self, business: &Business, missing: &[GoLiveItem]) {
        self.peers.set_ordering(business.id, missing, Some(pickup_profile()));
        self.publish(business.id, Body::BusinessChanged {}).await;
    }
}

impl Business {
    /// Bare calls with a key of this business.
    pub(crate) fn integration(&self, key: &str) -> anyhow::Result<Integration> {
        Integration::new(&self.base, key)
    }

    /// Bare calls with the Test key.
    pub(crate) fn test(&self) -> anyhow::Result<Integration> {
        self.integration(&self.test_key)
    }

    /// Bare calls with the Live key.
    pub(crate) fn live(&self) -> anyhow::Result<Integration> {
        self.integration(&self.live_key)
    }

    pub(crate) fn balance(&self) -> i64 {
        self.peers.balance(self.id)
    }

    /// The kind and amount of each wallet entry of an order.
    pub(crate) fn entries_of(&self, order: &str) -> anyhow::Result<Vec<(String, i64)>> {
        Ok(self.peers.entries_of(order.parse().context("the id of an order")?))
    }

    /// Places a live order for cash and returns its id.
    pub(crate) async fn place(&self, reference: &str) -> anyhow::Result<String> {
        Ok(text(&self.live()?.create(reference, &sample_order(reference)).await?.expect(201)?, "id"))
    }
}

pub(crate) fn pickup_profile() -> PickupProfile {
    PickupProfile {
        business_name: "Malabar Coffee Works".to_owned(),
        contact_name: "Joseph Mathew".to_owned(),
        phone: "+919800000002".to_owned(),
        address_line1: "27, Church Street".to_owned(),
        address_line2: None,
        city: "Bengaluru".to_owned(),
        state: "Karnataka".to_owned(),
        pincode: "560001".to_owned(),
        landmark: None,
        latitude: None,
        longitude: None,
        full_address: None,
    }
}
