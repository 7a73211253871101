//! AMQP 0-9-1: recognises where an event is published, confirmed, delivered and acknowledged.

use super::moment::Moment;

/// The protocol header that opens a connection.
const GREETING: &[u8] = b"AMQP";
const GREETING_BYTES: usize = 8;
/// A frame has type, channel and size before its payload, and an end octet after it.
const HEAD_BYTES: usize = 7;

const METHOD: u8 = 1;
const CONTENT: u8 = 3;
/// Class and method of `basic.ack`.
const BASIC_ACK: [u8; 4] = [0, 60, 0, 80];

pub(super) struct Amqp;

impl Amqp {
    /// The length of the first frame in `bytes`, once it is complete.
    pub(super) fn frame(bytes: &[u8]) -> Option<usize> {
        let length = if bytes.starts_with(GREETING) {
            GREETING_BYTES
        } else {
            let size = u32::from_be_bytes(bytes.get(3..HEAD_BYTES)?.try_into().ok()?);
            HEAD_BYTES + usize::try_from(size).ok()? + 1
        };
        (bytes.len() >= length).then_some(length)
    }

    pub(super) fn see(from_client: bool, frame: &[u8]) -> Option<Moment> {
        let is_ack =
            frame.first() == Some(&METHOD) && frame.get(HEAD_BYTES..HEAD_BYTES + 4) == Some(&BASIC_ACK);
        // An event is complete with its content.
        let is_content = frame.first() == Some(&CONTENT);
        match (from_client, is_ack, is_content) {
            (true, true, _) => Some(Moment::Ack),
            (false, true, _) => Some(Moment::Confirm),
            (true, _, true) => Some(Moment::Publish),
            (false, _, true) => Some(Moment::Deliver),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_separated() {
        assert_eq!(Amqp::frame(b"AMQP\0\0\x09\x01rest"), Some(8));
        let ack = [&[METHOD, 0, 1, 0, 0, 0, 13][..], &BASIC_ACK, &[0; 9], &[0xCE]].concat();
        assert_eq!(Amqp::frame(&ack), Some(ack.len()));
        assert_eq!(Amqp::frame(&ack[..5]), None);
        assert_eq!(Amqp::frame(&ack[..ack.len() - 1]), None);
        assert_eq!(
            (Amqp::see(true, &ack), Amqp::see(false, &ack)),
            (Some(Moment::Ack), Some(Moment::Confirm))
        );
        let content = [CONTENT, 0, 1, 0, 0, 0, 1, b'x', 0xCE];
        assert_eq!(
            (Amqp::see(true, &content), Amqp::see(false, &content)),
            (Some(Moment::Publish), Some(Moment::Deliver))
        );
    }
}
