//! The `Idempotency-Key` header.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;

use crate::ApiError;

/// In characters.
pub const IDEMPOTENCY_KEY_MAX: usize = 255;

/// The key; `None` without the header.
///
/// # Errors
/// 400 when the header occurs twice or is not 1 to 255 printable ASCII characters.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let mut keys = headers.get_all("Idempotency-Key");
    let Some(key) = keys.next() else { return Ok(None) };
    let printable = |key: &&[u8]| {
        (1..=IDEMPOTENCY_KEY_MAX).contains(&key.len()) && key.iter().all(|byte| (0x20..0x7f).contains(byte))
    };
    let text =
        Some(key.as_bytes().trim_ascii()).filter(printable).and_then(|key| std::str::from_utf8(key).ok());
    match (text, keys.next()) {
        (Some(key), None) => Ok(Some(key.to_owned())),
        _ => Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "idempotency_key_invalid",
            "Send one Idempotency-Key header of 1 to 255 printable ASCII characters.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<String>, String> {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value).unwrap();
            headers.append(HeaderName::from_static("idempotency-key"), value);
        }
        idempotency_key(&headers).map_err(|error| error.code().to_owned())
    }

    #[test]
    fn a_key_is_one_short_printable_text() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[b" shop-1 "]), Ok(Some("shop-1".to_owned())));
        assert_eq!(read(&[&[b'x'; 255]]), Ok(Some("x".repeat(255))));
        for bad in [&[&b""[..]][..], &[&[b'x'; 256]], &[b"a", b"a"], &["ü".as_bytes()], &[b"a\tb"]] {
            assert_eq!(read(bad), Err("idempotency_key_invalid".to_owned()), "{bad:?}");
        }
    }
}
