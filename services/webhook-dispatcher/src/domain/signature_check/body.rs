//! The ways in which a body is altered before its signature is checked.

use serde_json::Value;

use super::{Problem, problem};

pub(super) fn reserialised() -> Problem {
    problem(
        "body_reserialised",
        "The body is the same JSON, written anew: what was signed are the raw bytes as they arrived, before they were parsed.",
    )
}

pub(super) fn difference(given: &[u8], sent: &[u8]) -> Problem {
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    if json(given).is_some() && json(given) == json(sent) {
        return reserialised();
    }
    let message = "The signature is that of the body that we sent; the body given here is another. Is it cut off, or changed on \
                   its way to where it is verified?";
    problem("other_body", message)
}

/// What the body may have been before it was altered on its way.
pub(super) fn altered(body: &[u8]) -> Vec<(Vec<u8>, Problem)> {
    const BOM: &[u8] = b"\xef\xbb\xbf";
    let newline = || {
        let message = "The body differs by a line break at its end: take the raw bytes, without adding or trimming any.";
        problem("trailing_newline", message)
    };
    let crlf = || problem("line_breaks_changed", "The body's line breaks were changed (CRLF and LF).");
    let bom = || {
        problem("byte_order_mark", "The body has a byte order mark in front that was not sent, or lacks one.")
    };
    let text = String::from_utf8_lossy(body);
    let mut variants = vec![
        ([body, b"\n".as_slice()].concat(), newline()),
        ([body, b"\r\n".as_slice()].concat(), newline()),
        ([BOM, body].concat(), bom()),
    ];
    let trimmed = text.trim_end();
    if trimmed.len() < text.len() {
        variants.push((trimmed.as_bytes().to_vec(), newline()));
    }
    if let Some(rest) = body.strip_prefix(BOM) {
        variants.push((rest.to_vec(), bom()));
    }
    if text.contains('\n') {
        let unix = text.replace("\r\n", "\n");
        variants.push((unix.replace('\n', "\r\n").into_bytes(), crlf()));
        variants.push((unix.into_bytes(), crlf()));
    }
    variants
}
