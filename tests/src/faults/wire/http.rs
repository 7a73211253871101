//! HTTP/1.1 between services: recognises the call of a debit and the first bytes of its response. Callers do not
//! pipeline and send a request's head in one piece.

use super::moment::Moment;

const DEBIT: &[u8] = b"PUT /internal/debits/";

#[derive(Default)]
pub(super) struct Http {
    is_awaited: bool,
}

impl Http {
    pub(super) fn see(&mut self, from_client: bool, piece: &[u8]) -> Option<Moment> {
        if from_client {
            let is_debit = piece.starts_with(DEBIT);
            self.is_awaited |= is_debit;
            is_debit.then_some(Moment::DebitCall)
        } else {
            std::mem::take(&mut self.is_awaited).then_some(Moment::DebitAnswer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debit_and_its_response_are_recognised() {
        let mut tap = Http::default();
        assert_eq!(tap.see(true, b"GET /internal/wallets/x HTTP/1.1\r\n"), None);
        assert_eq!(tap.see(false, b"HTTP/1.1 200 OK\r\n"), None);
        assert_eq!(tap.see(true, b"PUT /internal/debits/ord_1/1 HTTP/1.1\r\n"), Some(Moment::DebitCall));
        assert_eq!(tap.see(true, b"{}"), None);
        assert_eq!(tap.see(false, b"HTTP/1.1 200 OK\r\n"), Some(Moment::DebitAnswer));
        assert_eq!(tap.see(false, b"rest"), None);
    }
}
