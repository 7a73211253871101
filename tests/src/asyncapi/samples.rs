//! A message of each kind with all optional fields, and order events with as few fields as possible.

use chrono::{DateTime, NaiveDate};
use domain::{
    ApiKeyId, BusinessId, Clock, CodStatus, DeliveryStatus, EndpointId, Entropy, EventId, EventKind,
    EvidencePlace, Mode, OrderId, Paise, Photo, RemittanceId, TrackingCode,
};
use events::{
    ApiKeyRevoked, AttemptBegun, Body, CashRemitted, Driver, EndpointDisabled, EndpointFailing, Envelope,
    Evidence, OrderEvent, OrderSnapshot, PersonalDataErased, ProgressData, Remittance, ScheduledAttempt,
    WalletLowBalance, WalletMoneyTakenBack,
};
use strum::VariantArray;

/// The same samples at each call.
pub fn samples() -> Vec<Envelope> {
    let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(7));
    let endpoint_id = EndpointId::generate(&clock, &entropy);
    let mut bodies = vec![
        Body::ApiKeyRevoked(ApiKeyRevoked { key_id: ApiKeyId::generate(&clock, &entropy), mode: Mode::Test }),
        Body::BusinessChanged {},
        Body::PortalChanged {},
        Body::FirstTestOrder {},
        Body::WalletFunded {},
        Body::WalletLowBalance(WalletLowBalance {
            balance_paise: Paise::new(-1),
            threshold_paise: Paise::new(50_000),
        }),
        Body::WalletMoneyTakenBack(WalletMoneyTakenBack {
            amount_paise: Paise::new(90_000),
            balance_paise: Paise::ZERO,
            owed_paise: Paise::new(20_000),
            reference: "cheque 7 again".to_owned(),
            order_reference: None,
            by_payment_provider: false,
        }),
        Body::EndpointFailing(EndpointFailing { endpoint_id, percent: 80 }),
        Body::EndpointDisabled(EndpointDisabled {
            endpoint_id,
            reason: "its server returned 410 Gone".into(),
        }),
        Body::PersonalDataErased(PersonalDataErased {
            order_id: OrderId::generate(&clock, &entropy),
            erased_at: clock.now(),
        }),
        Body::CashRemitted(CashRemitted {
            order_id: OrderId::generate(&clock, &entropy),
            amount_paise: Paise::new(99_900),
            remittance: remittance(&clock, &entropy),
        }),
        Body::AttemptBegun(AttemptBegun {
            order_id: OrderId::generate(&clock, &entropy),
            order_reference: "shop-1".into(),
            attempt: 2,
            fee_paise: Paise::new(3_000),
        }),
    ];
    for (sequence, kind) in (1..).zip(EventKind::VARIANTS) {
        let snapshot = snapshot(&clock, &entropy);
        let data = full(remittance(&clock, &entropy));
        bodies.push(order(*kind, sequence, snapshot.clone(), data, Some(Paise::new(99_900))));
        bodies.push(order(*kind, sequence, snapshot, ProgressData::default(), None));
    }
    let envelope = |body| Envelope {
        id: EventId::generate(&clock, &entropy),
        business_id: BusinessId::generate(&clock, &entropy),
        occurred_at: clock.now(),
        body,
    };
    bodies.into_iter().map(envelope).collect()
}

fn snapshot(clock: &Clock, entropy: &Entropy) -> OrderSnapshot {
    OrderSnapshot {
        id: OrderId::generate(clock, entropy),
        order_reference: "shop-1".into(),
        tracking_code: TrackingCode::generate(Mode::Live, entropy),
        tracking_url: "https://track.example/x".into(),
        status: DeliveryStatus::Cancelled,
        cod_status: CodStatus::NotApplicable,
    }
}

fn remittance(clock: &Clock, entropy: &Entropy) -> Remittance {
    Remittance {
        id: RemittanceId::generate(clock, entropy),
        bank_reference: "UTR 7".into(),
        paid_on: NaiveDate::default(),
    }
}

fn full(remittance: Remittance) -> ProgressData {
    ProgressData {
        driver: Some(Driver {
            name: "Ravi".into(),
            phone: Some("+919800000001".into()),
            vehicle: Some("van".into()),
        }),
        reason: Some("asked by the customer".into()),
        reason_code: Some("customer_refused".into()),
        cod_amount_paise: Some(Paise::new(99_900)),
        remittance: Some(remittance),
        evidence: Some(Evidence {
            attempt: 2,
            captured_at: Some(DateTime::UNIX_EPOCH),
            place: Some(EvidencePlace { latitude: 12.5, longitude: 77.5 }),
            recipient_name: Some("Asha".into()),
            recipient_relation: Some("customer".into()),
            code_verified: Some(true),
            photo: Some(Photo { url: "https://fleet.example/7".into(), sha256: "00".repeat(32) }),
            hash: "ff".repeat(32),
        }),
        reattempt: Some(ScheduledAttempt {
            number: 2,
            on: Some(NaiveDate::default()),
            fee_paise: Paise::new(3_000),
        }),
        requested_by: Some("portal".into()),
    }
}

fn order(
    event: EventKind,
    sequence: i64,
    order: OrderSnapshot,
    data: ProgressData,
    cod: Option<Paise>,
) -> Body {
    Body::Order(Box::new(OrderEvent {
        event,
        sequence,
        mode: if cod.is_some() { Mode::Live } else { Mode::Test },
        order,
        data,
        delivery_fee_paise: Paise::new(4_900),
        refund_due: cod.is_some(),
        cod_expected_paise: cod,
        recorded_at: cod.map(|_| DateTime::UNIX_EPOCH),
    }))
}
