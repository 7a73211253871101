//! Explains why a signature does not match, for the developer of a receiver: the string to sign, and the mistakes that produce
//! the given signature. The findings never contain a secret, nor a signature, which would serve to forge a webhook.

mod body;
mod form;

use base16ct::lower;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use self::body::{altered, difference, reserialised};
use self::form::{Given, read, timestamp_problems};
use crate::domain::SigningSecrets;

/// The header of the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// `Service-Signature`
    Service,
    /// `Service-Signature-Next`
    ServiceNext,
    /// `webhook-signature`, with the event's id
    Standard,
}

/// A webhook as the receiver got it.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub scheme: Scheme,
    /// The texts of the headers, unchanged.
    pub timestamp: String,
    pub id: String,
    pub signature: String,
    pub body: Vec<u8>,
    /// The bytes that were sent, if the event is known.
    pub sent: Option<Vec<u8>>,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub code: &'static str,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Findings {
    pub matches: bool,
    pub string_to_sign: Vec<u8>,
    pub problems: Vec<Problem>,
}

type Digest = [u8; 32];

fn problem(code: &'static str, message: impl Into<String>) -> Problem {
    Problem { code, message: message.into() }
}

fn digest(key: &[u8], message: &[u8]) -> Digest {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("an HMAC takes a key of any length"));
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// The key of the `Service-Signature` headers.
fn whole(secret: &str) -> Vec<u8> {
    secret.as_bytes().to_vec()
}

/// The key of the `webhook-signature` header.
fn decoded(secret: &str) -> Vec<u8> {
    secret.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok()).unwrap_or_default()
}

pub(crate) fn check(secrets: &SigningSecrets, evidence: &Evidence, now_unix: i64) -> Findings {
    if are_swapped(evidence) {
        return of_swapped(secrets, evidence, now_unix);
    }
    let mut problems = white_space_problems(evidence);
    let is_clean = problems.is_empty();
    let evidence = &Evidence {
        timestamp: evidence.timestamp.trim().to_owned(),
        signature: evidence.signature.trim().to_owned(),
        ..evidence.clone()
    };
    problems.extend(timestamp_problems(&evidence.timestamp, now_unix));
    let current = secrets.current.expose();
    let next = secrets.next.as_ref().map(webhook_signature::Secret::expose);
    if evidence.scheme == Scheme::ServiceNext && next.is_none() {
        problems.push(nothing_staged());
    }
    let secret = match evidence.scheme {
        Scheme::ServiceNext => next.unwrap_or(current),
        Scheme::Service | Scheme::Standard => current,
    };
    let string_to_sign = signed_text(evidence.scheme, evidence, &evidence.timestamp, &evidence.body);
    let expected = written(evidence.scheme, &digest(&key(evidence.scheme, secret), &string_to_sign));
    let also = next.filter(|_| evidence.scheme == Scheme::Standard);
    let also =
        also.map(|next| written(evidence.scheme, &digest(&key(evidence.scheme, next), &string_to_sign)));
    let fits = match evidence.scheme {
        Scheme::Standard => {
            let mut given = evidence.signature.split(' ');
            given.any(|one| same(one, &expected) || also.as_deref().is_some_and(|also| same(one, also)))
        }
        Scheme::Service | Scheme::ServiceNext => same(&evidence.signature, &expected),
    };
    if !fits {
        let search = Search { evidence, current, next };
        problems.extend(search.problems());
    }
    Findings { matches: fits && is_clean, string_to_sign, problems }
}

/// In constant time: the time must not tell how much of a guessed signature is right.
fn same(given: impl AsRef<[u8]>, computed: impl AsRef<[u8]>) -> bool {
    given.as_ref().ct_eq(computed.as_ref()).into()
}

fn are_swapped(evidence: &Evidence) -> bool {
    let (timestamp, signature) = (evidence.timestamp.trim(), evidence.signature.trim());
    let is_number = !signature.is_empty() && signature.bytes().all(|byte| byte.is_ascii_digit());
    // A hex digest may consist of digits only, but is longer than any time.
    is_number && signature.len() < 20 && read(timestamp, evidence.scheme == Scheme::Standard).is_some()
}

/// Reports further mistakes as if the two were not swapped.
fn of_swapped(secrets: &SigningSecrets, evidence: &Evidence, now_unix: i64) -> Findings {
    let in_place = Evidence {
        timestamp: evidence.signature.clone(),
        signature: evidence.timestamp.clone(),
        ..evidence.clone()
    };
    let mut findings = check(secrets, &in_place, now_unix);
    findings.matches = false;
    let message = "The timestamp and the signature are swapped.";
    findings.problems.insert(0, problem("swapped", message));
    findings
}

/// HTTP strips white space around header values, so it was added later.
fn white_space_problems(evidence: &Evidence) -> Vec<Problem> {
    [("timestamp", &evidence.timestamp), ("signature", &evidence.signature)]
        .into_iter()
        .filter(|(_, text)| text.trim().len() < text.len())
        .map(|(name, _)| problem("white_space", format!("There is white space around the {name}.")))
        .collect()
}

fn nothing_staged() -> Problem {
    problem(
        "nothing_staged",
        "No new secret is staged: no webhook has this header now. Verify the header without -Next.",
    )
}

fn key(scheme: Scheme, secret: &str) -> Vec<u8> {
    if scheme == Scheme::Standard { decoded(secret) } else { whole(secret) }
}

fn written(scheme: Scheme, digest: &Digest) -> String {
    match scheme {
        Scheme::Standard => format!("v1,{}", STANDARD.encode(digest)),
        Scheme::Service | Scheme::ServiceNext => format!("sha256={}", lower::encode_string(digest)),
    }
}

fn signed_text(scheme: Scheme, evidence: &Evidence, timestamp: &str, body: &[u8]) -> Vec<u8> {
    let head = match scheme {
        Scheme::Standard => format!("{}.{timestamp}.", evidence.id),
        Scheme::Service | Scheme::ServiceNext => format!("{timestamp}."),
    };
    [head.as_bytes(), body].concat()
}

struct Search<'a> {
    evidence: &'a Evidence,
    current: &'a str,
    next: Option<&'a str>,
}

/// Each is compared with some forty digests of the body. A header has at most one of each secret.
const SIGNATURES_EXPLAINED: usize = 2;

impl Search<'_> {
    fn problems(&self) -> Vec<Problem> {
        let signature = self.evidence.signature.as_str();
        let standard = self.evidence.scheme == Scheme::Standard;
        let tokens: Vec<&str> =
            if standard { signature.split_whitespace().collect() } else { vec![signature] };
        let given = tokens.into_iter().filter_map(|token| read(token, standard));
        let given: Vec<Given> = given.take(SIGNATURES_EXPLAINED).collect();
        if given.is_empty() {
            let wanted = if standard { "v1, and base64 of 32 bytes" } else { "sha256= and 64 digits of hex" };
            let message = format!("The signature cannot be read: it must be {wanted}.");
            return vec![problem("signature_malformed", message)];
        }
        for one in given {
            if let Some(mut found) = self.explain(&one.digest) {
                found.extend(one.form);
                return found;
            }
        }
        if self.lacks_id() {
            return vec![id_missing()];
        }
        if serde_json::from_slice::<Value>(&self.evidence.body).is_err() {
            return vec![problem(
                "other_body",
                "The body is not JSON, so it is not what we sent. Was it truncated or changed before the verification? Use all \
                 raw bytes as they arrived.",
            )];
        }
        vec![problem(
            "unexplained",
            "No common mistake explains it: the secret or the body is another one. Use the raw bytes as they arrived, before \
             anything parses or decodes them, and the secret of this endpoint.",
        )]
    }

    /// The mistakes that produce this digest; an empty list if only its form is wrong.
    fn explain(&self, digest: &Digest) -> Option<Vec<Problem>> {
        self.by_key_and_frame(digest)
            .or_else(|| self.by_spaced_key(digest))
            .or_else(|| self.by_body(digest))
            .or_else(|| self.by_timestamp(digest))
    }

    /// A signature of Standard Webhooks covers the id, which is missing here.
    fn lacks_id(&self) -> bool {
        let evidence = self.evidence;
        let is_standard = evidence.signature.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("v1,"));
        evidence.scheme != Scheme::Standard && is_standard && evidence.id.is_empty()
    }

    fn by_key_and_frame(&self, given: &Digest) -> Option<Vec<Problem>> {
        let evidence = self.evidence;
        let frames = [
            (signed_text(evidence.scheme, evidence, &evidence.timestamp, &evidence.body), None),
            (self.other_frame(), Some(self.other_frame_problem())),
            (
                evidence.body.clone(),
                Some(problem(
                    "body_alone_signed",
                    "Only the body was signed. Put the timestamp and a dot before it.",
                )),
            ),
            (
                [evidence.timestamp.as_bytes(), &evidence.body].concat(),
                Some(problem("dot_missing", "The dot between the timestamp and the body is missing.")),
            ),
        ];
        for (key, by_key) in self.keys() {
            for (text, by_frame) in &frames {
                if same(digest(&key, text), given) {
                    return Some(by_key.into_iter().chain(by_frame.clone()).collect());
                }
            }
        }
        None
    }

    /// Each key that a receiver may have used, with its mistake.
    fn keys(&self) -> Vec<(Vec<u8>, Option<Problem>)> {
        let standard = self.evidence.scheme == Scheme::Standard;
        let right = |secret: &str| key(self.evidence.scheme, secret);
        let other = |secret: &str| if standard { whole(secret) } else { decoded(secret) };
        let form = if standard {
            problem(
                "key_not_decoded",
                "The whole secret was used as the key. For webhook-signature, the key is the base64-decoded part after whsec_.",
            )
        } else {
            problem(
                "key_decoded",
                "The secret was decoded. For this header, the key is its whole text as shown, with whsec_.",
            )
        };
        let bare = problem(
            "key_without_prefix",
            "The key is the secret without whsec_. Use its whole text as shown.",
        );
        let stripped = |secret: &str| secret.trim_start_matches("whsec_").as_bytes().to_vec();
        let mut keys = vec![
            (right(self.current), None),
            (other(self.current), Some(form.clone())),
            (stripped(self.current), Some(bare)),
        ];
        if let Some(next) = self.next {
            let message = match self.evidence.scheme {
                Scheme::ServiceNext => None,
                Scheme::Service | Scheme::Standard => Some(problem(
                    "signed_with_next_secret",
                    "It is signed with the next secret, which is staged. Its signature is in the header that ends in \
                     Signature-Next until it is activated.",
                )),
            };
            keys.push((right(next), message));
            keys.push((other(next), Some(form)));
        }
        if self.evidence.scheme == Scheme::ServiceNext {
            keys[0].1 = self.next.map(|_| {
                let message =
                    "It is signed with the current secret; this header carries the next one's signature.";
                problem("signed_with_present_secret", message)
            });
        }
        keys
    }

    /// The secret was read with a trailing line break or space. Base64 decoders mostly ignore it, so only the text is
    /// tried.
    fn by_spaced_key(&self, given: &Digest) -> Option<Vec<Problem>> {
        let evidence = self.evidence;
        let text = signed_text(evidence.scheme, evidence, &evidence.timestamp, &evidence.body);
        let mut secrets = [Some(self.current), self.next].into_iter().flatten();
        let fits = secrets.any(|secret| {
            let mut spaced = ["\n", "\r\n", " "].iter().map(|end| [secret, end].concat());
            spaced.any(|key| same(digest(key.as_bytes(), &text), given))
        });
        fits.then(|| {
            let message = "The secret was used with a line break or a space at its end. Remove it where the secret is read.";
            vec![problem("key_with_white_space", message)]
        })
    }

    fn other_frame(&self) -> Vec<u8> {
        let other = if self.evidence.scheme == Scheme::Standard { Scheme::Service } else { Scheme::Standard };
        signed_text(other, self.evidence, &self.evidence.timestamp, &self.evidence.body)
    }

    fn other_frame_problem(&self) -> Problem {
        let message = if self.evidence.scheme == Scheme::Standard {
            "It is signed like the other header. For webhook-signature, the text is <webhook-id>.<webhook-timestamp>.<body>."
        } else {
            "It is signed like webhook-signature. For this header, the text is <timestamp>.<body>, without the id."
        };
        problem("other_scheme", message)
    }

    /// The same signature over other bytes.
    fn by_body(&self, given: &Digest) -> Option<Vec<Problem>> {
        let evidence = self.evidence;
        let keys = [Some(self.current), self.next].into_iter().flatten().map(|one| key(evidence.scheme, one));
        let keys: Vec<Vec<u8>> = keys.collect();
        let fits = |body: &[u8]| {
            let text = signed_text(evidence.scheme, evidence, &evidence.timestamp, body);
            keys.iter().any(|key| same(digest(key, &text), given))
        };
        for (body, found) in altered(&evidence.body) {
            if fits(&body) {
                return Some(vec![found]);
            }
        }
        if let Some(sent) = evidence.sent.as_deref().filter(|sent| fits(sent)) {
            return Some(vec![difference(&evidence.body, sent)]);
        }
        let again = serde_json::from_slice::<Value>(&evidence.body).ok()?.to_string();
        fits(again.as_bytes()).then(|| vec![reserialised()])
    }

    /// The timestamp was converted to milliseconds.
    fn by_timestamp(&self, given: &Digest) -> Option<Vec<Problem>> {
        let evidence = self.evidence;
        let seconds = evidence.timestamp.strip_suffix("000")?;
        let text = signed_text(evidence.scheme, evidence, seconds, &evidence.body);
        // `timestamp_problems` reports the milliseconds.
        (same(digest(&key(evidence.scheme, self.current), &text), given)).then(Vec::new)
    }
}

fn id_missing() -> Problem {
    problem(
        "id_missing",
        "A signature that begins with v1, belongs to webhook-signature and covers the event's id. Send that name as `header`, \
         and the value of webhook-id as `id`.",
    )
}

#[cfg(test)]
mod tests;
