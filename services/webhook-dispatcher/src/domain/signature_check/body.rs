//! Changes that a body undergoes before its signature is checked.

use serde_json::Value;

use super::{Problem, problem};

pub(super) fn reserialised() -> Problem {
    problem(
        "body_reserialised",
        "The body is the same JSON, serialised again. The signature covers the raw bytes as they arrived, before parsing.",
    )
}

pub(super) fn difference(given: &[u8], sent: &[u8]) -> Problem {
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    if json(given).is_some() && json(given) == json(sent) {
        return reserialised();
    }
    let message = "The signature matches the body that we sent, but this body is another one. Was it truncated or changed before \
                   the verification?";
    problem("other_body", message)
}

/// Bodies that may have been sent, each with the change that explains the given one.
pub(super) fn altered(body: &[u8]) -> Vec<(Vec<u8>, Problem)> {
    const BOM: &[u8] = b"\xef\xbb\xbf";
    let newline = || {
        let message =
            "The body differs by a line break at its end. Use the raw bytes, without adding or trimming any.";
        problem("trailing_newline", message)
    };
    let crlf = || problem("line_breaks_changed", "The body's line breaks were changed (CRLF and LF).");
    let bom = || {
        problem("byte_order_mark", "The body has an additional byte order mark at its start, or lacks one.")
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
