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

/// A text of somebody else's: what a spreadsheet would run gets an apostrophe in front, which it shows as text. A number
/// of ours may begin with a minus and needs none.
///
/// In many countries a spreadsheet separates cells at semicolons, whatever the quotes: each part may become a cell.
pub(crate) fn defused(text: &str) -> String {
    let starts_cell = |c: char| matches!(c, ';' | '\t' | '\r' | '\n');
    let mut defused = String::with_capacity(text.len() + 1);
    for (index, part) in text.split_inclusive(starts_cell).enumerate() {
        let leads = index == 0 && part.starts_with(starts_cell);
        if leads || part.trim_start_matches([' ', '\'', '"']).starts_with(runs) {
            defused.push('\'');
        }
        defused.push_str(part);
    }
    defused
}

fn runs(c: char) -> bool {
    matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
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
            let defused = defused(formula);
            assert!(
                defused.starts_with('\'') && defused.replace('\'', "") == formula.replace('\'', ""),
                "{defused}"
            );
        }
        for (formula, expected) in [
            (";=1+1", "';'=1+1"),
            ("; \"=1+1", "';' \"=1+1"),
            ("x;=1+1;y", "x;'=1+1;y"),
            ("x\n=1", "x\n'=1"),
            (";x", "';x"),
        ] {
            assert_eq!(defused(formula), expected);
        }
        for harmless in ["", "shop-1", "1-2", "a=b", "a; b", "a;b;", "नमस्ते", "#1"] {
            assert_eq!(defused(harmless), harmless);
        }
    }
}
