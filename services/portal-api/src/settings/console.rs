//! Which listener serves the operator's console.

use settings::SettingErrors;

use crate::domain::Part;
use crate::settings::PortalSettings;

impl PortalSettings {
    /// The parts of the portal at the public listener. The console is there unless it has a listener of its own.
    pub(crate) fn public_parts(&self) -> &'static [Part] {
        if self.http.operator.is_none() || self.operator.on_public_listener {
            &[Part::Portal, Part::Console]
        } else {
            &[Part::Portal]
        }
    }
}

/// A private console needs an origin of its own: links to the portal's origin would not reach it.
pub(super) fn check(settings: &PortalSettings, errors: &mut SettingErrors) {
    if settings.public_parts().contains(&Part::Console) {
        return;
    }
    match &settings.public.console_url {
        None => {
            errors.add("WAYBILL_PUBLIC__CONSOLE_URL", "is missing: set the origin of WAYBILL_HTTP__OPERATOR");
        }
        Some(url) if url.origin() == settings.public.url.origin() => {
            let error =
                "must differ from WAYBILL_PUBLIC__URL: the public listener does not serve the console";
            errors.add("WAYBILL_PUBLIC__CONSOLE_URL", error);
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::tests::load;

    const LISTENER: (&str, &str) = ("WAYBILL_HTTP__OPERATOR", "127.0.0.1:0");
    const ON_PUBLIC: (&str, &str) = ("WAYBILL_OPERATOR__ON_PUBLIC_LISTENER", "true");
    const PORTAL: &str = "http://127.0.0.1:8084";
    const CONSOLE: &str = "http://127.0.0.1:8085";
    const URL: &str = "WAYBILL_PUBLIC__CONSOLE_URL";

    #[test]
    fn a_private_console_has_an_origin_of_its_own() {
        for (given, error) in [
            (vec![], ""),
            (vec![ON_PUBLIC], ""),
            (vec![(URL, CONSOLE)], ""),
            (vec![LISTENER], "is missing"),
            (vec![LISTENER, (URL, PORTAL)], "must differ"),
            (vec![LISTENER, (URL, CONSOLE)], ""),
            (vec![LISTENER, ON_PUBLIC], ""),
            (vec![LISTENER, ON_PUBLIC, (URL, PORTAL)], ""),
            (vec![LISTENER, (URL, "http://127.0.0.1:8085/operator")], URL),
        ] {
            match load(&given) {
                Ok(_) => assert_eq!(error, "", "{given:?}"),
                Err(text) => {
                    assert!(!error.is_empty() && text.to_string().contains(error), "{given:?}: {text}")
                }
            }
        }
    }

    #[test]
    fn production_requires_https_for_the_console() {
        for (console, is_accepted) in
            [("https://console.example.com", true), ("http://127.0.0.1:8085", false)]
        {
            let given = [
                ("WAYBILL_ENVIRONMENT", "production"),
                ("WAYBILL_INTERNAL__TOKEN", "a secret of the operator's own"),
                ("WAYBILL_OPERATOR__TOKEN", "another secret of the operator's own"),
                ("WAYBILL_PUBLIC__URL", "https://portal.example.com"),
                ("WAYBILL_PUBLIC__API_URL", "https://api.example.com/v1"),
                ("WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE", "5000000"),
                LISTENER,
                (URL, console),
            ];
            match load(&given) {
                Ok(_) => assert!(is_accepted, "{console}"),
                Err(text) => assert!(!is_accepted && text.to_string().contains(URL), "{text}"),
            }
        }
    }
}
