//! PostgreSQL's protocol, version 3: maps prepared statements to SQL, and collects a transaction's effects until its
//! commit. Statements outside of a transaction commit by themselves.

use std::collections::{HashMap, VecDeque};

use super::moment::{Marks, Moment};

/// A client's request for TLS, sent instead of a version. The server answers with a single byte.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

#[derive(Default)]
pub(super) struct Postgres {
    is_asked_for_tls: bool,
    is_begun: bool,
    statements: HashMap<Vec<u8>, Marks>,
    is_in_transaction: bool,
    /// The effects of the current transaction.
    done: Marks,
    /// What each unanswered request commits, if anything.
    unanswered: VecDeque<Option<Marks>>,
    /// Whether the request that is being answered failed or rolled back.
    is_undone: bool,
}

impl Postgres {
    /// The length of the first message in `bytes`, once it is complete.
    pub(super) fn frame(&self, from_client: bool, bytes: &[u8]) -> Option<usize> {
        if !from_client && self.is_asked_for_tls {
            return (!bytes.is_empty()).then_some(1);
        }
        // The first message has no type.
        let head = usize::from(!from_client || self.is_begun);
        let length = u32::from_be_bytes(bytes.get(head..head + 4)?.try_into().ok()?);
        let length = head + usize::try_from(length).ok()?;
        (bytes.len() >= length).then_some(length)
    }

    pub(super) fn see(&mut self, from_client: bool, message: &[u8]) -> Option<Moment> {
        if !from_client && std::mem::take(&mut self.is_asked_for_tls) {
            return None;
        }
        if !from_client {
            return self.answer(message);
        }
        if !self.is_begun {
            self.is_asked_for_tls = message == TLS_REQUEST;
            self.is_begun = !self.is_asked_for_tls;
            return None;
        }
        let (kind, body) = (message.first()?, message.get(5..)?);
        let mut texts = body.split(|byte| *byte == 0);
        match kind {
            b'P' => {
                let (name, sql) = (texts.next()?, texts.next()?);
                self.statements.insert(name.to_owned(), Marks::of(&String::from_utf8_lossy(sql)));
                None
            }
            b'B' => {
                let (_portal, name) = (texts.next()?, texts.next()?);
                self.done = self.done.and(self.statements.get(name).copied().unwrap_or_default());
                None
            }
            b'Q' => {
                let moment = self.simple(&String::from_utf8_lossy(texts.next()?));
                self.await_answer(moment)
            }
            // The end of a prepared statement.
            b'S' => {
                let moment = if self.is_in_transaction { None } else { Some(self.commit()) };
                self.await_answer(moment)
            }
            _ => None,
        }
    }

    fn simple(&mut self, sql: &str) -> Option<Moment> {
        if sql.starts_with("BEGIN") || sql.starts_with("ROLLBACK") {
            self.is_in_transaction = sql.starts_with("BEGIN");
            self.done = Marks::default();
            return None;
        }
        self.done = self.done.and(Marks::of(sql));
        (sql.contains("COMMIT") || !self.is_in_transaction).then(|| self.commit())
    }

    fn commit(&mut self) -> Moment {
        self.is_in_transaction = false;
        Moment::Commit(std::mem::take(&mut self.done))
    }

    fn await_answer(&mut self, moment: Option<Moment>) -> Option<Moment> {
        self.unanswered.push_back(match moment {
            Some(Moment::Commit(marks)) => Some(marks),
            _ => None,
        });
        moment
    }

    /// The server ends each answer with `ReadyForQuery`.
    fn answer(&mut self, message: &[u8]) -> Option<Moment> {
        match message.first()? {
            b'E' => self.is_undone = true,
            b'C' if message.get(5..) == Some(b"ROLLBACK\0") => self.is_undone = true,
            b'Z' => {
                let is_undone = std::mem::take(&mut self.is_undone);
                let committed = self.unanswered.pop_front().flatten();
                return committed.filter(|_| !is_undone).map(Moment::Committed);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::moment::Mark;
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    #[test]
    fn a_commit_has_the_marks_of_its_transaction() {
        let mut tap = Postgres::default();
        assert_eq!(tap.frame(true, &TLS_REQUEST), Some(8));
        assert_eq!(tap.see(true, &TLS_REQUEST), None);
        assert_eq!((tap.frame(false, b""), tap.frame(false, b"N")), (None, Some(1)));
        assert_eq!(tap.see(false, b"N"), None);
        let start = [&9_u32.to_be_bytes()[..], &[0, 3, 0, 0], b"\0"].concat();
        assert_eq!(tap.frame(true, &start), Some(9));
        assert_eq!(tap.see(true, &start), None);
        for (kind, body) in [
            (b'P', &b"s1\0INSERT INTO debits (order_id) VALUES ($1)\0\0\0"[..]),
            (b'Q', b"BEGIN\0"),
            (b'B', b"\0s1\0\0\0\0\0\0\0"),
        ] {
            let message = message(kind, body);
            assert_eq!(tap.frame(true, &message), Some(message.len()));
            assert_eq!(tap.frame(true, &message[..message.len() - 1]), None);
            assert_eq!(tap.see(true, &message), None);
        }
        let stored = Marks::from(Mark::DebitStored);
        assert_eq!(tap.see(true, &message(b'S', b"")), None);
        assert_eq!(tap.see(true, &message(b'Q', b"SELECT 1; COMMIT\0")), Some(Moment::Commit(stored)));
        let (ready, complete) = (message(b'Z', b"I"), message(b'C', b"COMMIT\0"));
        // The answers to `BEGIN` and to the statement.
        assert_eq!((tap.see(false, &ready), tap.see(false, &ready)), (None, None));
        assert_eq!(tap.see(false, &complete), None);
        assert_eq!(tap.see(false, &ready), Some(Moment::Committed(stored)));
        // The next transaction has no such effects.
        assert_eq!(tap.see(true, &message(b'Q', b"BEGIN\0")), None);
        assert_eq!(tap.see(true, &message(b'Q', b"COMMIT\0")), Some(Moment::Commit(Marks::default())));
    }

    #[test]
    fn a_statement_outside_of_a_transaction_commits_itself_unless_it_fails() {
        let mut tap = Postgres { is_begun: true, ..Postgres::default() };
        let stored = Marks::from(Mark::DebitStored);
        let prepared = message(b'P', b"s1\0INSERT INTO debits (order_id) VALUES ($1)\0\0\0");
        assert_eq!(tap.see(true, &prepared), None);
        for answer in [message(b'C', b"INSERT 0 1\0"), message(b'E', b"SERROR\0\0")] {
            assert_eq!(tap.see(true, &message(b'B', b"\0s1\0\0\0\0\0\0\0")), None);
            assert_eq!(tap.see(true, &message(b'S', b"")), Some(Moment::Commit(stored)));
            assert_eq!(tap.see(false, &answer), None);
            let committed = (answer[0] == b'C').then_some(Moment::Committed(stored));
            assert_eq!(tap.see(false, &message(b'Z', b"I")), committed);
        }
    }
}
