//! Announcements to other services about an endpoint: they send a mail to its business.

use domain::{BusinessId, EndpointId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointAnnouncement {
    pub endpoint_id: EndpointId,
    pub business_id: BusinessId,
    pub subject: AnnouncementSubject,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnnouncementSubject {
    /// The endpoint only fails; this share of the time until it is disabled has passed.
    Failing {
        percent: i32,
    },
    Disabled {
        reason: String,
    },
}
