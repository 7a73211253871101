//! The moments that a proxy recognises.

/// A message that passes a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// `COMMIT` of a transaction with these effects, or the end of a statement outside of a transaction.
    Commit(Marks),
    /// The server's confirmation of that commit.
    Committed(Marks),
    /// `PUT /internal/debits/…`.
    DebitCall,
    DebitAnswer,
    /// An event from its publisher.
    Publish,
    Confirm,
    /// An event to its consumer.
    Deliver,
    Ack,
}

/// Whether to stop before or after forwarding a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instant {
    Held,
    Passed,
}

/// An effect of a transaction, recognised by its SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    OrderStored,
    OrderPlaced,
    EventsDeleted,
    DebitStored,
    TopUpCredited,
    /// A consumer's work: its inbox is part of the same transaction.
    EventSeen,
    WebhookStored,
    AttemptStored,
}

impl Mark {
    const ALL: [(Self, &str); 8] = [
        (Self::OrderStored, "INSERT INTO ORDERS "),
        (Self::OrderPlaced, "UPDATE ORDERS SET PLACEMENT"),
        (Self::EventsDeleted, "DELETE FROM OUTBOX_MESSAGES"),
        (Self::DebitStored, "INSERT INTO DEBITS "),
        (Self::TopUpCredited, "UPDATE TOP_UPS SET"),
        (Self::EventSeen, "INSERT INTO INBOX "),
        (Self::WebhookStored, "INSERT INTO DELIVERIES "),
        (Self::AttemptStored, "INSERT INTO ATTEMPTS "),
    ];
}

/// A set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u16);

impl Marks {
    /// The effects of a statement, whatever its quoting, line breaks and case.
    pub(crate) fn of(sql: &str) -> Self {
        let words: Vec<String> = sql.replace('"', "").split_whitespace().map(str::to_uppercase).collect();
        let plain = words.join(" ").replace('(', " (");
        let found = Mark::ALL.iter().filter(|(_, text)| plain.contains(text));
        found.fold(Self::default(), |marks, (mark, _)| marks.and(Self::from(*mark)))
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

impl From<Mark> for Marks {
    fn from(mark: Mark) -> Self {
        Self(1 << mark as u16)
    }
}

impl Moment {
    /// Whether this is the awaited moment. The transaction may have further effects.
    pub(crate) fn is(self, wanted: Self) -> bool {
        match (self, wanted) {
            (Self::Commit(seen), Self::Commit(wanted)) | (Self::Committed(seen), Self::Committed(wanted)) => {
                seen.has(wanted)
            }
            (seen, wanted) => seen == wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_recognised_in_any_spelling() {
        for (sql, mark) in [
            ("INSERT INTO \"debits\" (\"order_id\") VALUES ($1)", Mark::DebitStored),
            ("\n    INSERT INTO orders (\n  id", Mark::OrderStored),
            ("WITH x AS (insert into attempts(id) select 1) SELECT", Mark::AttemptStored),
            ("UPDATE \"orders\" SET \"placement\" = $1", Mark::OrderPlaced),
        ] {
            assert!(Marks::of(sql).has(mark.into()), "{sql}");
        }
        for sql in [
            "SELECT 1",
            "INSERT INTO order_events (id)",
            "UPDATE orders SET status = $1",
            "INSERT INTO debits_x",
        ] {
            assert_eq!(Marks::of(sql), Marks::default(), "{sql}");
        }
    }
}
