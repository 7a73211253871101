//! What answers say of an order's past: its timeline, and the way that its tracking shows.

use domain::{EndpointId, EventId, TransferId, WebhookDeliveryId};
use internal_api::webhooks::DeliveryState;
use strum::VariantArray;

use super::components::{event_kind, order_kinds, tracking_code};
use super::ordered::{Json, object};
use super::schema::{
    boolean, id, list, nullable, open_words, paise, record, reference, string, time, with_required, words,
};

pub(super) fn timeline() -> [(&'static str, Json); 6] {
    let entry = object! {
        "description": "One thing that happened, by its `type`. Each has an `id` and a `recordedAt`.",
        "oneOf": [reference("StatusEntry"), reference("MoneyEntry"), reference("WebhookEntry")],
        "discriminator": object! {
            "propertyName": "type",
            "mapping": object! {
                "status": "#/components/schemas/StatusEntry",
                "money": "#/components/schemas/MoneyEntry",
                "webhook": "#/components/schemas/WebhookEntry",
            },
        },
    };
    let incomplete = list(
        open_words(["wallet", "webhook-dispatcher"], "Who did not answer."),
        "Whose entries are missing for the moment; left out when none are. Read the page again later.",
    );
    let page = with_required(
        "A page of an order's timeline, oldest first.",
        &["data", "hasMore"],
        [
            ("data", list(reference("TimelineEntry"), "The page.")),
            ("hasMore", boolean("Whether there is more.")),
            ("incomplete", incomplete),
        ],
    );
    [
        ("Timeline", page),
        ("TimelineEntry", entry),
        ("StatusEntry", status_entry()),
        ("MoneyEntry", money_entry()),
        ("WebhookEntry", webhook_entry()),
        ("EventData", event_data()),
    ]
}

fn status_entry() -> Json {
    record(
        "A move of the order.",
        [
            ("type", words(["status"], "A move of the order.")),
            ("id", id(EventId::PREFIX, "Id of the event; its webhooks carry the same.")),
            ("event", event_kind(order_kinds(), "What happened.")),
            ("sequence", object! { "type": "integer", "description": "Rises with each event of the order." }),
            ("status", reference("DeliveryStatus")),
            ("codStatus", reference("CodStatus")),
            ("occurredAt", time("When it happened, by the fleet's clock, which can be wrong.")),
            ("recordedAt", time("When it was recorded.")),
            ("data", reference("EventData")),
        ],
    )
}

fn event_data() -> Json {
    with_required(
        "What the event adds.",
        &[],
        [
            ("driver", reference("Driver")),
            ("reason", string("Why the delivery failed, was cancelled or returned.")),
            ("codAmountPaise", paise("The cash of a `cod.*` event.")),
        ],
    )
}

fn money_entry() -> Json {
    record(
        "Money that left the wallet for the order, or came back.",
        [
            ("type", words(["money"], "A transfer of the wallet.")),
            ("id", id(TransferId::PREFIX, "Id of the transfer.")),
            ("kind", open_words(["delivery_fee", "refund"], "What it was for.")),
            ("amountPaise", paise("Negative for money that leaves the wallet.")),
            ("balanceAfterPaise", paise("What the wallet held then.")),
            ("recordedAt", time("When it was posted.")),
        ],
    )
}

fn webhook_entry() -> Json {
    let states =
        |description| words(DeliveryState::VARIANTS.iter().map(|state| (*state).into()), description);
    record(
        "What became of a webhook. It stands where the webhook came to be; its outcome changes in place.",
        [
            ("type", words(["webhook"], "A webhook.")),
            ("id", id(WebhookDeliveryId::PREFIX, "Id in the delivery log.")),
            ("eventId", id(EventId::PREFIX, "The event that it tells of.")),
            ("event", event_kind(order_kinds(), "The event's kind.")),
            ("endpointId", id(EndpointId::PREFIX, "Where it goes.")),
            ("status", states("How it stands, as in the delivery log.")),
            ("state", states("The same as `status`, by its former name.").with("deprecated", true)),
            ("attempts", object! { "type": "integer", "description": "How often it was tried." }),
            ("lastAttemptAt", nullable(time("When it was tried last."))),
            (
                "lastResponseStatus",
                nullable(
                    object! { "type": "integer", "description": "What your endpoint answered; null for no answer." },
                ),
            ),
            ("lastError", nullable(string("What went wrong, in words."))),
            ("nextAttemptAt", nullable(time("When it is tried again."))),
            ("completedAt", nullable(time("When it ended."))),
            ("recordedAt", time("When it came to be.")),
        ],
    )
}

pub(super) fn tracking() -> [(&'static str, Json); 3] {
    let tracking = record(
        "Where a parcel is, for whoever holds its code. No personal data.",
        [
            ("trackingCode", tracking_code()),
            ("mode", reference("Mode")),
            ("status", reference("DeliveryStatus")),
            ("updatedAt", time("When it last changed.")),
            (
                "steps",
                list(reference("TrackingStep"), "What happened, in the order in which it was accepted."),
            ),
            ("headline", string("The status, in words for the customer.")),
            ("detail", string("What that means.")),
            ("progress", list(reference("TrackingStage"), "The way from the order to its end.")),
            ("finished", boolean("Nothing more will happen.")),
            ("version", object! { "type": "integer", "description": "Changes with every step." }),
        ],
    );
    let step = record(
        "One thing that happened.",
        [
            ("event", event_kind(order_kinds(), "What happened.")),
            ("status", reference("DeliveryStatus")),
            ("occurredAt", time("When it happened, by the fleet's clock, which can be wrong.")),
            ("recordedAt", time("When it was recorded.")),
        ],
    );
    let stage = record(
        "One stage of the way.",
        [
            ("label", string("In words for the customer.")),
            (
                "state",
                words(["done", "current", "upcoming", "stopped"], "Where the parcel is, seen from here."),
            ),
            ("at", nullable(time("When it was recorded as reached."))),
        ],
    );
    [("Tracking", tracking), ("TrackingStep", step), ("TrackingStage", stage)]
}
