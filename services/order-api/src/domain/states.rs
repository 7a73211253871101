//! The states and union territories of India, and the first digits of their PIN codes.

/// A state or union territory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) name: &'static str,
    /// Codes and other names, in the form of [`plain`].
    aliases: &'static str,
    /// The beginnings of its PIN codes. Circles of India Post cross some borders, and old addresses have the names of
    /// before 2000, 2014 or 2019; both count as right.
    pins: &'static str,
}

const STATES: [State; 36] = [
    state("Andaman and Nicobar Islands", "an andamannicobar", "744"),
    state("Andhra Pradesh", "ap", "50 51 52 53"),
    state("Arunachal Pradesh", "ar", "786 790 791 792"),
    state("Assam", "as", "78"),
    state("Bihar", "br", "80 81 82 83 84 85"),
    state("Chandigarh", "ch", "140 160"),
    state("Chhattisgarh", "cg ct", "49"),
    state("Dadra and Nagar Haveli and Daman and Diu", "dh dn dd dadranagarhaveli damandiu", "362 396"),
    state("Delhi", "dl nctofdelhi newdelhi nctdelhi", "110"),
    state("Goa", "ga", "403"),
    state("Gujarat", "gj", "36 37 38 39"),
    state("Haryana", "hr", "12 13 160"),
    state("Himachal Pradesh", "hp", "17"),
    state("Jammu and Kashmir", "jk", "18 19"),
    state("Jharkhand", "jh", "813 814 815 816 82 83"),
    state("Karnataka", "ka", "56 57 58 59"),
    state("Kerala", "kl", "67 68 69"),
    state("Ladakh", "la", "194"),
    state("Lakshadweep", "ld", "682"),
    state("Madhya Pradesh", "mp", "45 46 47 48 49"),
    state("Maharashtra", "mh", "40 41 42 43 44"),
    state("Manipur", "mn", "795"),
    state("Meghalaya", "ml", "793 794"),
    state("Mizoram", "mz", "796"),
    state("Nagaland", "nl", "797 798"),
    state("Odisha", "od or orissa", "75 76 77"),
    state("Puducherry", "py pondicherry", "533 605 607 609 673"),
    state("Punjab", "pb", "14 15 160"),
    state("Rajasthan", "rj", "30 31 32 33 34"),
    state("Sikkim", "sk", "737"),
    state("Tamil Nadu", "tn", "60 61 62 63 64"),
    state("Telangana", "ts tg", "50"),
    state("Tripura", "tr", "799"),
    state("Uttar Pradesh", "up", "20 21 22 23 24 25 26 27 28"),
    state("Uttarakhand", "uk ut uttaranchal", "24 26"),
    state("West Bengal", "wb", "70 71 72 73 74"),
];

const fn state(name: &'static str, aliases: &'static str, pins: &'static str) -> State {
    State { name, aliases, pins }
}

/// The state with this name, former name or code.
pub(super) fn state_named(name: &str) -> Option<&'static State> {
    let given = plain(name);
    STATES.iter().find(|state| {
        plain(state.name) == given || state.aliases.split_whitespace().any(|alias| alias == given)
    })
}

/// The states that a PIN code may belong to. None for the army's, and for numbers that India Post has not assigned.
pub(super) fn states_of(pincode: &str) -> Vec<&'static State> {
    STATES.iter().filter(|state| state.pins.split_whitespace().any(|pin| pincode.starts_with(pin))).collect()
}

/// Without case, separators, and the words "and" and "the".
fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !matches!(*word, "and" | "the"));
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_known_by_their_names_and_codes() {
        for (given, name) in [
            ("Karnataka", "Karnataka"),
            ("TAMIL NADU", "Tamil Nadu"),
            ("Tamilnadu", "Tamil Nadu"),
            ("Jammu & Kashmir", "Jammu and Kashmir"),
            ("KA", "Karnataka"),
            ("Orissa", "Odisha"),
        ] {
            assert_eq!(state_named(given).map(|state| state.name), Some(name), "{given}");
        }
        for other in ["Karnatka", "California", "c", "-", ""] {
            assert_eq!(state_named(other), None, "{other}");
        }
    }

    #[test]
    fn pin_codes_belong_to_states() {
        let names = |pincode| states_of(pincode).iter().map(|state| state.name).collect::<Vec<_>>();
        for (pincode, expected) in [
            ("560038", &["Karnataka"][..]),
            ("110001", &["Delhi"]),
            ("500081", &["Andhra Pradesh", "Telangana"]),
            ("403001", &["Goa", "Maharashtra"]),
            ("737101", &["Sikkim", "West Bengal"]),
            ("248001", &["Uttar Pradesh", "Uttarakhand"]),
            ("799001", &["Tripura"]),
            ("900056", &[]),
            ("100000", &[]),
        ] {
            assert_eq!(names(pincode), expected, "{pincode}");
        }
    }
}
