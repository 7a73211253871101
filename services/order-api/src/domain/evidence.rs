//! The records of the attempts at a delivery (SPECIFICATION §4.6). A record is a JSON text; its hash is that of the stored text.
//! It contains the hash of the record before it, and the hash of its personal part. So the personal part can be erased, and the
//! chain stays intact.

use chrono::{DateTime, Utc};
use domain::{EventKind, EvidencePlace, OrderId, Photo};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// What a fleet reports about the end of an attempt, next to the event itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    pub captured_at: Option<DateTime<Utc>>,
    pub place: Option<EvidencePlace>,
    pub recipient_name: Option<String>,
    pub recipient_relation: Option<String>,
    pub photo: Option<Photo>,
}

/// The part of an attempt that stays: nothing in it identifies a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptFacts {
    pub order_id: OrderId,
    /// 1 for the first.
    pub attempt: u32,
    pub event: EventKind,
    /// Of the event.
    pub sequence: i64,
    /// The fleet's id of the report.
    pub report_id: String,
    pub occurred_at: DateTime<Utc>,
    pub recorded_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient_relation: Option<String>,
    /// `None` for a failed attempt, or when no code was issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photo_sha256: Option<String>,
    pub personal_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_hash: Option<String>,
}

/// The part of an attempt that an erasure removes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonalFacts {
    /// Random: without it, the hash would confirm a guess of an erased name.
    pub salt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<EvidencePlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipient_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photo_url: Option<String>,
}

/// The stored record of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    /// [`AttemptFacts`]
    pub record: String,
    /// Of `record`: SHA-256, in hex.
    pub hash: String,
    /// [`PersonalFacts`], unless erased.
    pub personal: Option<String>,
}

impl AttemptRecord {
    /// Sets both hashes of `facts`.
    ///
    /// # Errors
    /// When the facts cannot be written as JSON.
    pub fn new(
        mut facts: AttemptFacts,
        personal: &PersonalFacts,
        previous: Option<&Self>,
    ) -> serde_json::Result<Self> {
        let personal = serde_json::to_string(personal)?;
        facts.personal_hash = sha256(&personal);
        facts.previous_hash = previous.map(|previous| previous.hash.clone());
        let record = serde_json::to_string(&facts)?;
        Ok(Self { hash: sha256(&record), record, personal: Some(personal) })
    }

    #[must_use]
    pub fn erased(self) -> Self {
        Self { personal: None, ..self }
    }

    /// # Errors
    /// When the text is not what [`AttemptRecord::new`] writes.
    pub fn facts(&self) -> serde_json::Result<AttemptFacts> {
        serde_json::from_str(&self.record)
    }

    /// # Errors
    /// As for [`AttemptRecord::facts`].
    pub fn personal_facts(&self) -> serde_json::Result<Option<PersonalFacts>> {
        self.personal.as_deref().map(serde_json::from_str).transpose()
    }
}

/// Whether the records of an order, oldest first, are as they were written. Their numbers rise, with gaps where release 1.0.0
/// recorded the end of an attempt. Records that are missing at the end are not noticed: the business has their hashes.
pub fn are_intact(order: OrderId, records: &[AttemptRecord]) -> bool {
    let (mut previous, mut last_attempt) = (None, 0);
    records.iter().all(|stored| {
        let expected = previous.replace(stored.hash.as_str());
        let hashes_match = stored.hash == sha256(&stored.record);
        hashes_match
            && stored.facts().is_ok_and(|facts| {
                let is_personal = |text: &String| sha256(text) == facts.personal_hash;
                let former = std::mem::replace(&mut last_attempt, facts.attempt);
                facts.order_id == order
                    && facts.attempt > former
                    && facts.previous_hash.as_deref() == expected
                    && stored.personal.as_ref().is_none_or(is_personal)
            })
    })
}

fn sha256(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()))
}

/// The code that the customer tells the driver, and the wrong codes that were reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryCode {
    pub code: String,
    pub wrong: i32,
}

/// What a report says of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeCheck {
    NotIssued,
    NotGiven,
    Right,
    /// This many more may be wrong.
    Wrong {
        left: i32,
    },
    /// Too many were wrong, so that this one is not looked at.
    Blocked,
}

impl DeliveryCode {
    pub const DIGITS: usize = 6;
    /// The number of codes.
    pub const COUNT: u32 = 1_000_000;
    /// Of an order: a driver guesses its code with a chance of 1 in 200,000.
    pub const WRONG_MAX: i32 = 5;

    pub fn check(&self, given: &str) -> CodeCheck {
        if self.wrong >= Self::WRONG_MAX {
            CodeCheck::Blocked
        } else if self.code.as_bytes().ct_eq(given.as_bytes()).into() {
            CodeCheck::Right
        } else {
            CodeCheck::Wrong { left: Self::WRONG_MAX - self.wrong - 1 }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order() -> OrderId {
        OrderId::first_of(DateTime::UNIX_EPOCH)
    }

    fn facts(attempt: u32) -> AttemptFacts {
        let sequence = 4 + i64::from(attempt);
        AttemptFacts {
            order_id: order(),
            attempt,
            event: EventKind::OrderFailed,
            sequence,
            report_id: format!("run-{sequence}"),
            occurred_at: DateTime::UNIX_EPOCH,
            recorded_at: DateTime::UNIX_EPOCH,
            reason_code: None,
            captured_at: None,
            recipient_relation: Some("guard".to_owned()),
            code_verified: Some(true),
            photo_sha256: None,
            personal_hash: String::new(),
            previous_hash: None,
        }
    }

    /// The records of these attempts, and the names of their recipients.
    fn chain(attempts: &[(u32, String)]) -> Vec<AttemptRecord> {
        let mut records: Vec<AttemptRecord> = Vec::new();
        for (attempt, name) in attempts {
            let facts = facts(*attempt);
            let place = Some(EvidencePlace { latitude: 12.971_6, longitude: 77.594_6 });
            let salt = format!("{:032x}", facts.sequence);
            let recipient_name = Some(name.clone());
            let personal = PersonalFacts { salt, place, recipient_name, ..PersonalFacts::default() };
            records.push(AttemptRecord::new(facts, &personal, records.last()).unwrap());
        }
        records
    }

    /// Attempts with rising numbers, some of which are missing.
    fn rising(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(u32, String)>> {
        prop::collection::vec((1..3_u32, "[ -~]{0,12}"), count).prop_map(|steps| {
            let mut attempt = 0;
            let numbered = steps.into_iter().map(|(step, name)| {
                attempt += step;
                (attempt, name)
            });
            numbered.collect::<Vec<_>>()
        })
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let records = chain(&[(1, "Asha".to_owned()), (2, "Ravi".to_owned())]);
        let facts = records[1].facts().unwrap();
        assert_eq!((facts.attempt, facts.previous_hash.as_ref()), (2, Some(&records[0].hash)));
        let personal = records[1].personal_facts().unwrap().unwrap();
        assert_eq!(personal.recipient_name.as_deref(), Some("Ravi"));
        assert_eq!(records[1].clone().erased().personal_facts().unwrap(), None);
        assert!(!are_intact(OrderId::MAX, &records), "of another order");
    }

    #[test]
    fn numbers_of_attempts_rise_and_may_have_gaps() {
        let cases: [(&[u32], bool); 5] =
            [(&[2], true), (&[1, 3, 4], true), (&[0, 1], false), (&[1, 1], false), (&[1, 3, 2], false)];
        for (numbers, intact) in cases {
            let attempts: Vec<_> = numbers.iter().map(|number| (*number, String::new())).collect();
            assert_eq!(are_intact(order(), &chain(&attempts)), intact, "{numbers:?}");
        }
    }

    /// Other programs verify the records, and older ones stay: the text never changes.
    #[test]
    fn the_text_of_a_record_never_changes() {
        let record = &chain(&[(1, "Asha".to_owned())])[0];
        assert_eq!(
            record.record,
            format!(
                r#"{{"orderId":"{}","attempt":1,"event":"order.failed","sequence":5,"reportId":"run-5","occurredAt":"1970-01-01T00:00:00Z","recordedAt":"1970-01-01T00:00:00Z","recipientRelation":"guard","codeVerified":true,"personalHash":"{}"}}"#,
                order(),
                sha256(record.personal.as_ref().unwrap())
            )
        );
        assert_eq!(
            record.personal.as_deref(),
            Some(
                r#"{"salt":"00000000000000000000000000000005","place":{"latitude":12.9716,"longitude":77.5946},"recipientName":"Asha"}"#
            )
        );
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_code_is_right_wrong_or_no_longer_looked_at() {
        let code = |wrong| DeliveryCode { code: "012345".to_owned(), wrong };
        assert_eq!(code(0).check("012345"), CodeCheck::Right);
        assert_eq!(code(4).check("012345"), CodeCheck::Right);
        assert_eq!(code(5).check("012345"), CodeCheck::Blocked);
        assert_eq!(code(5).check("000000"), CodeCheck::Blocked);
        for wrong in ["012346", "12345", "", "0123456"] {
            assert_eq!(code(0).check(wrong), CodeCheck::Wrong { left: 4 }, "{wrong}");
            assert_eq!(code(4).check(wrong), CodeCheck::Wrong { left: 0 }, "{wrong}");
        }
    }

    /// Replaces one character by another.
    fn change(text: &mut String, position: prop::sample::Index) {
        let mut characters: Vec<char> = text.chars().collect();
        let changed = position.get_mut(&mut characters);
        *changed = if *changed == '7' { '8' } else { '7' };
        *text = characters.into_iter().collect();
    }

    proptest! {
        #[test]
        fn an_erasure_of_any_records_is_no_break(
            attempts in rising(1..5),
            erased in prop::collection::vec(any::<bool>(), 5),
        ) {
            let records = chain(&attempts).into_iter().zip(erased);
            let records: Vec<_> =
                records.map(|(record, erase)| if erase { record.erased() } else { record }).collect();
            prop_assert!(are_intact(order(), &records));
        }

        #[test]
        fn any_other_change_is_a_break(
            attempts in rising(2..5),
            which in any::<prop::sample::Index>(),
            position in any::<prop::sample::Index>(),
            kind in 0..6,
        ) {
            let mut records = chain(&attempts);
            let last = records.len() - 1;
            let index = which.index(records.len());
            match kind {
                0 => change(&mut records[index].record, position),
                1 => change(records[index].personal.as_mut().unwrap(), position),
                2 => change(&mut records[index].hash, position),
                // With a hash that matches: the next record has the former one. The business has that of the last record.
                3 => {
                    let index = index.min(last - 1);
                    change(&mut records[index].record, position);
                    records[index].hash = sha256(&records[index].record);
                }
                4 => drop(records.remove(index.min(last - 1))),
                _ => records.swap(index.min(last - 1), last),
            }
            prop_assert!(!are_intact(order(), &records));
        }
    }
}
