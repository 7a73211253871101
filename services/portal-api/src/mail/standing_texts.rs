//! The texts of mails to owners about the standing of their business.

use super::texts::{Content, TO_OWNERS};

pub(super) fn suspended(brand: &str, (at, reason): (&str, Option<&str>), link: String) -> Content {
    let mut paragraphs = vec![
        format!("Your delivery company suspended your business on {at}. New live orders are refused."),
        "Placed orders continue, and you can still log in. Test orders work. To lift the suspension, contact your \
         delivery company."
            .to_owned(),
    ];
    if let Some(reason) = reason {
        paragraphs.insert(1, format!("Its reason: {reason}"));
    }
    let subject = format!("Your {brand} account was suspended");
    Content { subject, paragraphs, button: "View your account", link, footer: TO_OWNERS }
}

pub(super) fn refused(brand: &str, (at, reason): (&str, &str), link: String) -> Content {
    let paragraphs = vec![
        format!("On {at}, your delivery company decided that your business cannot place live orders yet."),
        format!("Its reason: {reason}"),
        "Test orders work. Once this is settled, an owner can ask again on the overview.".to_owned(),
    ];
    let subject = format!("Your {brand} account is not approved yet");
    Content { subject, paragraphs, button: "View overview", link, footer: TO_OWNERS }
}

pub(super) fn lifted(brand: &str, at: &str, link: String) -> Content {
    let paragraphs = vec![
        format!("Your delivery company lifted the suspension of your business on {at}."),
        "The overview shows whether live orders are unlocked.".to_owned(),
    ];
    let subject = format!("The suspension of your {brand} account was lifted");
    Content { subject, paragraphs, button: "View overview", link, footer: TO_OWNERS }
}

pub(super) fn live_access(brand: &str, at: &str, link: String) -> Content {
    let paragraphs = vec![
        format!("Your delivery company granted your business live access on {at}."),
        "The overview shows whether something else is missing for live orders. Then create a Live key and place them."
            .to_owned(),
    ];
    let subject = format!("Your {brand} account has live access");
    Content { subject, paragraphs, button: "View overview", link, footer: TO_OWNERS }
}
