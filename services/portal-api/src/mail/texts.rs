//! The texts of all mails.

use domain::{Paise, is_attempt_fee_reference};
use events::WalletMoneyTakenBack;

use crate::domain::{Part, RegionFormat, Role, has_web_address};

/// A change of the second factor of an account, or a use of a recovery code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactorNews {
    Enrolled,
    Removed,
    /// By an owner or the operator.
    Reset,
    RecoveryCodesCreated,
    RecoveryCodeUsed,
    PasskeyAdded,
    PasskeyRemoved,
}

/// What happened to the closing of a business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosingNews {
    Begun,
    /// By the operator, after an owner began it.
    TakenOver,
    Withdrawn,
    Completed,
}

/// The parts of a mail that differ by kind.
pub(super) struct Content {
    pub(super) subject: String,
    pub(super) paragraphs: Vec<String>,
    pub(super) button: &'static str,
    pub(super) link: String,
    pub(super) footer: &'static str,
}

const UNREQUESTED: &str =
    "If you did not request this, ignore this e-mail. Only you received this link. Do not share it.";
const LINK_IS_SECRET: &str = "Only you received this link. Do not share it.";
const TO_THE_TEAM: &str = "You receive this because of your role in your business.";
pub(super) const TO_OWNERS: &str = "You receive this because you are an owner of your business.";
const ABOUT_LINKS: &str = "For your security, the user and all owners receive this e-mail whenever the operator creates such a link.";
const FOR_SECURITY: &str = "For your security, you receive this e-mail whenever your password changes.";

const FOR_BROWSERS: &str = "For your security, you receive this e-mail whenever your account is used in a browser for the first time.";
const ABOUT_ADDRESS: &str =
    "For your security, your previous address receives this e-mail when your address changes.";
const FOR_ADDRESS_REQUESTS: &str =
    "For your security, you receive this e-mail whenever a change of your e-mail address is requested.";
const FOR_FACTORS: &str =
    "For your security, you receive this e-mail whenever two-factor authentication of your account changes.";

const FOR_ROLES: &str = "For your security, you receive this e-mail whenever your role changes.";

pub(super) fn password_reset(brand: &str, link: String, expires_at: &str) -> Content {
    Content {
        subject: format!("Reset your {brand} password"),
        paragraphs: vec![format!(
            "We received a request to reset your password. The link below works once, until {expires_at}."
        )],
        button: "Reset password",
        link,
        footer: UNREQUESTED,
    }
}

pub(super) fn confirm_email(brand: &str, link: String, expires_at: &str) -> Content {
    Content {
        subject: format!("Confirm your e-mail address for {brand}"),
        paragraphs: vec![
            format!("Your {brand} account uses this e-mail address. Confirm that it is yours."),
            format!(
                "Until then you receive no warnings and cannot invite others. The link below works until {expires_at}, after you \
                 have logged in."
            ),
            "If you did not sign up, ignore this e-mail. If you want the account yourself, press “Forgot your password?” on the \
             login page: a new password gives it to you, and logs everybody else out."
                .to_owned(),
        ],
        button: "Confirm e-mail address",
        link,
        footer: LINK_IS_SECRET,
    }
}

pub(super) fn confirm_new_email(brand: &str, link: String, expires_at: &str) -> Content {
    Content {
        subject: format!("Confirm your new e-mail address for {brand}"),
        paragraphs: vec![format!(
            "A user of {brand} wants to use this e-mail address from now on, also to log in. The link below makes the change. \
             It works until {expires_at}, in a session of that account."
        )],
        button: "Confirm new address",
        link,
        footer: UNREQUESTED,
    }
}

/// Without the new address: somebody else may have chosen it, and it may read like an advice.
pub(super) fn email_change_requested(brand: &str, link: String, at: &str) -> Content {
    Content {
        subject: format!("A change of the e-mail address of your {brand} account was requested"),
        paragraphs: vec![
            format!(
                "On {at}, somebody in a session of your account asked to use another e-mail address. It replaces this one when \
                 the link in the new inbox is opened."
            ),
            "If this was you, open that link.".to_owned(),
            "If not, log in, end all other sessions, and change your password now: both cancel the request. Then inform an \
             owner of your business or your delivery company."
                .to_owned(),
        ],
        button: "View your account",
        link,
        footer: FOR_ADDRESS_REQUESTS,
    }
}

pub(super) fn email_changed(brand: &str, link: String, at: &str) -> Content {
    Content {
        subject: format!("The e-mail address of your {brand} account was changed"),
        paragraphs: vec![
            format!(
                "On {at}, your account got another e-mail address. This one no longer logs in, and its other sessions have ended."
            ),
            "If you did not expect this, inform an owner of your business or your delivery company now."
                .to_owned(),
        ],
        button: "View your account",
        link,
        footer: ABOUT_ADDRESS,
    }
}

/// Whom to tell about a change that the reader did not make.
pub(super) fn contact(part: Part) -> &'static str {
    match part {
        Part::Portal => "an owner of your business",
        Part::Console => "an administrator",
    }
}

pub(super) fn password_changed(brand: &str, part: Part, link: String, at: &str) -> Content {
    let (advice, button) = match part {
        Part::Portal => ("reset your password now and inform", "Reset password"),
        Part::Console => ("ask for a new link at once: inform", "View your account"),
    };
    Content {
        subject: format!("Your {brand} password was changed"),
        paragraphs: vec![
            format!("Your password was changed on {at}. All sessions that used the old password have ended."),
            format!("If you did not change it, {advice} {}.", contact(part)),
        ],
        button,
        link,
        footer: FOR_SECURITY,
    }
}

pub(super) fn second_factor(brand: &str, part: Part, news: FactorNews, link: String, at: &str) -> Content {
    let reset = match part {
        Part::Portal => {
            "an owner of your business or your delivery company turned it off, and ended all your sessions"
        }
        Part::Console => "an administrator turned it off, and ended all your sessions",
    };
    let (subject, happened) = match news {
        FactorNews::Enrolled => (
            format!("Two-factor authentication of your {brand} account is on"),
            "two-factor authentication was turned on. From now on, a login needs a code of your app",
        ),
        FactorNews::Removed => (
            format!("Two-factor authentication of your {brand} account is off"),
            "two-factor authentication was turned off. Your password alone now opens your account",
        ),
        FactorNews::Reset => (format!("Two-factor authentication of your {brand} account was reset"), reset),
        FactorNews::RecoveryCodesCreated => (
            format!("Your {brand} account has new recovery codes"),
            "new recovery codes were created. The old ones no longer work",
        ),
        FactorNews::RecoveryCodeUsed => (
            format!("A recovery code of your {brand} account was used"),
            "a recovery code was used to log in, or to confirm a session. It works only once",
        ),
        FactorNews::PasskeyAdded => (
            format!("Your {brand} account has a new passkey"),
            "a passkey was added. From now on, it can replace the code of your app",
        ),
        FactorNews::PasskeyRemoved => (
            format!("A passkey of your {brand} account was removed"),
            "a passkey was removed. It no longer opens your account",
        ),
    };
    Content {
        subject,
        paragraphs: vec![
            format!("On {at}, {happened}."),
            format!("If you did not expect this, change your password now and inform {}.", contact(part)),
        ],
        button: "View your account",
        link,
        footer: FOR_FACTORS,
    }
}

pub(super) fn role_changed(brand: &str, (from, to): (&str, &str), link: String, at: &str) -> Content {
    Content {
        subject: format!("Your role in the {brand} console was changed"),
        paragraphs: vec![
            format!("On {at}, your role was changed from {from} to {to}."),
            format!("If you did not expect this, inform {}.", contact(Part::Console)),
        ],
        button: "View your account",
        link,
        footer: FOR_ROLES,
    }
}

pub(super) fn new_browser(
    brand: &str,
    (browser, address): (&str, Option<&str>),
    at: &str,
    link: String,
    contact: &str,
) -> Content {
    let address = address.unwrap_or("unknown");
    Content {
        subject: format!("New login to your {brand} account"),
        paragraphs: vec![
            format!("Your account was opened in a new browser on {at}: {browser}, IP address {address}."),
            "If this was you, there is nothing to do.".to_owned(),
            format!(
                "If not, log in, end all other sessions, and change your password now. Then inform {contact}."
            ),
        ],
        button: "View your sessions",
        link,
        footer: FOR_BROWSERS,
    }
}

pub(super) fn invitation(
    brand: &str,
    (business_name, invited_by): (&str, &str),
    role: Role,
    link: String,
    expires_at: &str,
) -> Content {
    // Old accounts may have a name that mail programs would turn into a link.
    let business_name = if has_web_address(business_name) { "A business" } else { business_name };
    Content {
        subject: format!("{business_name} invites you to {brand}"),
        paragraphs: vec![
            format!("{invited_by} invited you to join the account of {business_name} with the role {role}."),
            format!(
                "To accept, open the link below. If you already have an account, log in and press Join. Otherwise choose a \
                 password. The link works once, until {expires_at}."
            ),
        ],
        button: "Accept invitation",
        link,
        footer: UNREQUESTED,
    }
}

pub(super) fn new_owner(email: &str, link: String) -> Content {
    Content {
        subject: "Your business has a new owner".to_owned(),
        paragraphs: vec![format!(
            "{email} is now an owner of your business. Owners can see and change everything, including money and users."
        )],
        button: "View team",
        link,
        footer: TO_OWNERS,
    }
}

pub(super) fn reset_link_issued(email: &str, at: &str, link: String) -> Content {
    Content {
        subject: "A password reset link was issued".to_owned(),
        paragraphs: vec![
            format!(
                "The operator of this service created a link on {at} that sets a new password for {email}. It works once, \
                 within an hour."
            ),
            "If nobody of your business asked the operator for it, contact the operator now.".to_owned(),
        ],
        button: "View audit log",
        link,
        footer: ABOUT_LINKS,
    }
}

pub(super) fn closing(brand: &str, news: ClosingNews, at: &str, link: String) -> Content {
    let (subject, happened, next) = match news {
        ClosingNews::Begun => (
            format!("Your {brand} account is being closed"),
            format!("On {at}, the closing of your business began. New live orders are refused."),
            "Placed orders continue. The page shows what must be settled, such as the balance, before your delivery company \
             completes the closing. If you did not expect this, contact your delivery company now.",
        ),
        ClosingNews::TakenOver => (
            format!("Your {brand} account is being closed by your delivery company"),
            format!("On {at}, your delivery company took over the closing of your business."),
            "Owners can no longer withdraw it. If you want to keep your business open, contact your delivery company.",
        ),
        ClosingNews::Withdrawn => (
            format!("Your {brand} account stays open"),
            format!("On {at}, the closing of your business was withdrawn."),
            "The overview shows whether live orders are unlocked.",
        ),
        ClosingNews::Completed => (
            format!("Your {brand} account was closed"),
            format!(
                "On {at}, your delivery company closed your business. Its API keys and webhook endpoints are off."
            ),
            "You can still log in and read your statement. The page shows how long your data is kept.",
        ),
    };
    Content {
        subject,
        paragraphs: vec![happened, next.to_owned()],
        button: "View the closing",
        link,
        footer: TO_OWNERS,
    }
}

pub(super) fn endpoint_failing(percent: i32, link: String) -> Content {
    Content {
        subject: "Webhooks to one of your endpoints are failing".to_owned(),
        paragraphs: vec![
            format!(
                "All webhooks to one of your endpoints have been failing. {percent}% of the time until the endpoint is \
                 disabled has passed."
            ),
            "No webhook is lost yet: failed webhooks are retried. Check the delivery log for the cause."
                .to_owned(),
        ],
        button: "View webhooks",
        link,
        footer: TO_THE_TEAM,
    }
}

pub(super) fn endpoint_disabled(reason: &str, link: String) -> Content {
    Content {
        subject: "One of your webhook endpoints was disabled".to_owned(),
        paragraphs: vec![
            format!("We no longer send webhooks to one of your endpoints: {reason}."),
            "New webhooks are held. Fix the endpoint and enable it again. Then choose whether to send the held \
             webhooks."
                .to_owned(),
        ],
        button: "View webhooks",
        link,
        footer: TO_THE_TEAM,
    }
}

pub(super) fn money_taken_back(taken: &WalletMoneyTakenBack, region: RegionFormat, link: String) -> Content {
    let (amount, balance) = (region.money(taken.amount_paise), region.money(taken.balance_paise));
    let (owed, reference) = (taken.owed_paise, &taken.reference);
    let is_fee = !taken.by_payment_provider && is_attempt_fee_reference(reference);
    let cause = match taken.by_payment_provider {
        true => {
            format!("A top-up of {amount} was refunded or disputed at the payment provider ({reference}).")
        }
        false if is_fee => {
            let order = taken.order_reference.as_ref().unwrap_or(reference);
            format!(
                "Another attempt at the delivery of “{order}” began. Its fee of {amount} exceeds your balance."
            )
        }
        false => format!(
            "Your delivery company has corrected your wallet by {amount}. Its reference is “{reference}”."
        ),
    };
    let subject = match is_fee {
        true => format!("Your balance does not cover a fee of {amount}"),
        false => format!("{amount} was taken from your wallet"),
    };
    let after = if owed > Paise::ZERO {
        let owed = region.money(owed);
        format!(
            "Your balance is {balance}, and you owe {owed}. Your next top-ups, credits and refunds pay that first."
        )
    } else {
        format!("Your balance is {balance}.")
    };
    Content {
        subject,
        paragraphs: vec![cause, after],
        button: "Open the statement",
        link,
        footer: TO_THE_TEAM,
    }
}

/// The file is behind the log-in: the link alone opens nothing.
pub(super) fn export_ready(rows: &str, expires_at: &str, link: String) -> Content {
    Content {
        subject: "Your export is ready".to_owned(),
        paragraphs: vec![format!(
            "The file with {rows} rows is complete. Log in to download it, until {expires_at}. It is deleted then."
        )],
        button: "Download the file",
        link,
        footer: "You receive this because you asked for an export.",
    }
}

pub(super) fn low_balance(balance: &str, threshold: &str, link: String) -> Content {
    Content {
        subject: "Your wallet balance is low".to_owned(),
        paragraphs: vec![
            format!("Your balance is {balance}. This is below your warning threshold of {threshold}."),
            "Live orders are refused when the balance does not cover their fee.".to_owned(),
        ],
        button: "Top up wallet",
        link,
        footer: TO_THE_TEAM,
    }
}
