//! Fields of accounts in request bodies.

use domain::Email;
use identity::passkeys::Assertion;
use identity::passwords::{Password, PasswordRejection};
use identity::second_factors::{FactorAnswer, FactorCode};
use serde_json::Value;
use web::{Fields, TextRule};

use crate::domain::has_web_address;
use crate::mail::is_deliverable;

/// Longer than any code of a second factor.
const CODE_TEXT: TextRule = TextRule::line(64);

/// The e-mail address of an account.
pub(crate) fn email(fields: &Fields<'_>) -> Option<Email> {
    let text = fields.required_text("email", TextRule::line(320))?;
    let email = Email::parse(&text);
    if email.is_none() {
        fields.reject(
            "email",
            "invalid_format",
            "email must be an e-mail address, such as you@shop.example.",
        );
    }
    email
}

/// The e-mail address of a new user, which mails must be able to reach.
pub(crate) fn reachable_email(fields: &Fields<'_>) -> Option<Email> {
    let email = email(fields)?;
    if !is_deliverable(&email) {
        let message = "email must be a deliverable e-mail address, such as you@shop.example.";
        fields.reject("email", "invalid_format", message);
        return None;
    }
    Some(email)
}

/// The name of a business.
pub(crate) fn business_name(fields: &Fields<'_>) -> Option<String> {
    plain_name(fields, "businessName", 120)
}

/// A name that appears in lists, next to other text. Characters that change the direction of writing could disguise that text.
pub(crate) fn listed_name(fields: &Fields<'_>, field: &str, max: usize) -> Option<String> {
    let name = fields.required_text(field, TextRule::line(max))?;
    if name.contains(|character| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')) {
        let message = format!("{field} must not contain characters that change the direction of writing.");
        fields.reject(field, "invalid_format", message);
        return None;
    }
    Some(name)
}

/// As [`listed_name`], and in mails.
pub(crate) fn plain_name(fields: &Fields<'_>, field: &str, max: usize) -> Option<String> {
    let name = listed_name(fields, field, max)?;
    if has_web_address(&name) {
        let message =
            format!("{field} must not contain a web address, because it would become a link in e-mails.");
        fields.reject(field, "invalid_format", message);
        return None;
    }
    Some(name)
}

/// The exact text of a password, including leading and trailing spaces.
pub(crate) fn password_text<'a>(fields: &Fields<'a>, name: &str) -> Option<&'a str> {
    match fields.value(name) {
        None => fields.missing(name),
        Some(Value::String(text)) if text.is_empty() => fields.missing(name),
        Some(Value::String(text)) => Some(text),
        Some(_) => {
            fields.reject(name, "invalid_type", format!("{name} must be a string."));
            None
        }
    }
}

/// A new password. `email` is the user's address, if known.
pub(crate) fn new_password(fields: &Fields<'_>, name: &str, email: Option<&Email>) -> Option<Password> {
    let (min, max) = (Password::MIN, Password::MAX);
    let range = format!("{name} must have {min} to {max} characters.");
    let (code, message) = match Password::new(password_text(fields, name)?) {
        Ok(password) if email.is_some_and(|email| password.is_like(email)) => {
            ("too_common", format!("{name} must not be your e-mail address."))
        }
        Ok(password) => return Some(password),
        Err(PasswordRejection::Short) => ("too_short", range),
        Err(PasswordRejection::Long) => ("too_long", range),
        Err(PasswordRejection::Common) => {
            ("too_common", format!("{name} is a common password and easy to guess. Choose another one."))
        }
    };
    fields.reject(name, code, message);
    None
}

/// The code of a second factor.
pub(crate) fn factor_code(fields: &Fields<'_>) -> Option<FactorCode> {
    let text = fields.required_text("code", CODE_TEXT)?;
    let code = FactorCode::parse(&text);
    if code.is_none() {
        let message = "code must be six digits of your app, or a recovery code.";
        fields.reject("code", "invalid_format", message);
    }
    code
}

/// What the browser returned for a passkey.
pub(crate) fn credential<T>(
    fields: &Fields<'_>,
    name: &str,
    parse: impl FnOnce(&Value) -> Option<T>,
) -> Option<T> {
    let Some(value) = fields.value(name) else { return fields.missing(name) };
    let parsed = parse(value);
    if parsed.is_none() {
        let message = format!("{name} must be the JSON of the credential that the browser returned.");
        fields.reject(name, "invalid_format", message);
    }
    parsed
}

/// The passkey, if there is one. Then these other fields must be absent.
pub(crate) fn passkey_instead_of(fields: &Fields<'_>, others: &[&str]) -> Option<FactorAnswer> {
    let passkey = credential(fields, "passkey", Assertion::parse);
    if let Some(other) = others.iter().find(|other| fields.value(other).is_some()) {
        let message = format!("Send either passkey or {other}.");
        fields.reject(other, "not_allowed", message);
    }
    passkey.map(|passkey| FactorAnswer::Passkey(Box::new(passkey)))
}
