//! Parses a signature and its timestamp in any common form, and reports wrong forms.

use base16ct::mixed;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::{Digest, Problem, problem};

/// The tolerance recommended to receivers.
const TOLERANCE_SECONDS: i64 = 300;

/// The digest of a signature, and the mistakes in its form.
pub(super) struct Given {
    pub digest: Digest,
    pub form: Vec<Problem>,
}

/// Parses a digest in any common form.
pub(super) fn read(token: &str, standard: bool) -> Option<Given> {
    let mut form = Vec::new();
    let lower = token.to_ascii_lowercase();
    let rest = if lower.starts_with("sha256=") {
        if standard {
            form.push(problem(
                "wrong_prefix",
                "This is the form of the other header. webhook-signature is v1, followed by base64.",
            ));
        } else if !token.starts_with("sha256=") {
            form.push(problem("wrong_prefix", "The prefix must be sha256= in lower case."));
        }
        &token["sha256=".len()..]
    } else if lower.starts_with("v1,") || lower.starts_with("v1=") {
        if !standard {
            form.push(problem(
                "wrong_prefix",
                "This is the form of webhook-signature. This header is sha256= followed by hex.",
            ));
        } else if !token.starts_with("v1,") {
            form.push(problem("wrong_prefix", "The prefix must be v1 and a comma."));
        }
        &token["v1,".len()..]
    } else {
        let prefix = if standard { "v1," } else { "sha256=" };
        form.push(problem("prefix_missing", format!("The prefix {prefix} is missing.")));
        token
    };
    if let Some(digest) = mixed::decode_vec(rest).ok().and_then(|bytes| Digest::try_from(bytes).ok()) {
        if standard {
            form.push(problem("hex_instead_of_base64", "It is in hex, and must be in base64."));
        } else if rest.bytes().any(|byte| byte.is_ascii_uppercase()) {
            form.push(problem("upper_case_hex", "The hex is in upper case, and must be in lower case."));
        }
        return Some(Given { digest, form });
    }
    let engines = [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD];
    let bytes = engines.iter().find_map(|engine| engine.decode(rest).ok())?;
    let digest = Digest::try_from(bytes).ok()?;
    if !standard {
        form.push(problem("base64_instead_of_hex", "It is in base64, and must be in lower-case hex."));
    } else if STANDARD.encode(digest) != rest {
        form.push(problem(
            "other_base64",
            "It is in another kind of base64. Use the standard one with padding.",
        ));
    }
    Some(Given { digest, form })
}

pub(super) fn timestamp_problems(timestamp: &str, now_unix: i64) -> Vec<Problem> {
    let digits = !timestamp.is_empty() && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let Some(seconds) = timestamp.parse::<i64>().ok().filter(|_| digits) else {
        let message = "The timestamp is not a whole number of Unix seconds. Use the header's text as it is.";
        return vec![problem("timestamp_malformed", message)];
    };
    if seconds / 1_000 > now_unix / 2 {
        let message =
            "The timestamp is in milliseconds. The header is in seconds, and the signature covers its text.";
        return vec![problem("timestamp_in_milliseconds", message)];
    }
    let age = now_unix - seconds;
    if age > TOLERANCE_SECONDS {
        let message = format!(
            "The timestamp is {age} s old. Receivers should refuse timestamps older than {TOLERANCE_SECONDS} s. Each attempt \
             is signed anew, so use the headers of the latest one."
        );
        return vec![problem("timestamp_too_old", message)];
    }
    if age < -TOLERANCE_SECONDS {
        return vec![problem(
            "timestamp_in_the_future",
            "The timestamp is in the future. Is your clock right?",
        )];
    }
    Vec::new()
}
