//! Writing CSV (RFC 4180) that a spreadsheet may open: what somebody else wrote is text there and never a formula.

/// One record with its line end.
pub(crate) fn record<'a>(fields: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut line = String::new();
    for (index, field) in fields.enumerate() {
        if index > 0 {
            line.push(',');
        }
        if field.contains(['"', ',', '\r', '\n']) {
            line.push('"');
            line.push_str(&field.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(field);
        }
    }
    line.push_str("\r\n");
    line.into_bytes()
}

/// A text of somebody else's: one that a spreadsheet would run gets an apostrophe in front, which it shows as text. A
/// number of ours may begin with a minus and needs none.
pub(crate) fn defused(text: &str) -> String {
    let runs = |c: char| matches!(c, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠');
    if text.trim_start_matches([' ', '\'', '"']).starts_with(runs) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let line = record(["a", "b,c", "say \"hi\"", "two\nlines", "", "-5"].into_iter());
        assert_eq!(String::from_utf8(line).unwrap(), "a,\"b,c\",\"say \"\"hi\"\"\",\"two\nlines\",,-5\r\n");
    }

    #[test]
    fn no_text_of_somebody_elses_is_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=x", " =1", "'=1", "\"=1", "＝1"] {
            assert_eq!(defused(formula), format!("'{formula}"), "{formula}");
        }
        for harmless in ["", "shop-1", "1-2", "a=b", "नमस्ते", "#1"] {
            assert_eq!(defused(harmless), harmless);
        }
    }
}
