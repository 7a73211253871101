//! Writes CSV (RFC 4180) that is safe to open in a spreadsheet: text from others never becomes a formula.

use domain::Paise;

/// One record, including the line break.
pub(crate) fn record<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut line = String::new();
    for (index, field) in fields.into_iter().enumerate() {
        let field = field.as_ref();
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

/// `-49.00`, a number for spreadsheets.
pub(crate) fn rupees(amount: Paise) -> String {
    let (sign, paise) = (if amount.is_negative() { "-" } else { "" }, amount.get().unsigned_abs());
    format!("{sign}{}.{:02}", paise / 100, paise % 100)
}

/// Puts an apostrophe in front of everything that a spreadsheet would run as a formula. Only for text from others: our own
/// numbers may begin with a minus.
///
/// In many countries spreadsheets split cells at semicolons, even inside quotes, so that each part may become a cell.
pub(crate) fn without_formulas(text: &str) -> String {
    let starts_cell = |c: char| matches!(c, ';' | '\t' | '\r' | '\n');
    let mut safe = String::with_capacity(text.len() + 1);
    for (index, part) in text.split_inclusive(starts_cell).enumerate() {
        let leads = index == 0 && part.starts_with(starts_cell);
        if leads || part.trim_start_matches([' ', '\'', '"']).starts_with(starts_formula) {
            safe.push('\'');
        }
        safe.push_str(part);
    }
    safe
}

fn starts_formula(c: char) -> bool {
    matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let line = record(["a", "b,c", "say \"hi\"", "two\nlines", "", "-5"]);
        assert_eq!(String::from_utf8(line).unwrap(), "a,\"b,c\",\"say \"\"hi\"\"\",\"two\nlines\",,-5\r\n");
    }

    #[test]
    fn text_from_others_is_never_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=x", " =1", "'=1", "\"=1", "＝1"] {
            let safe = without_formulas(formula);
            assert!(safe.starts_with('\'') && safe.replace('\'', "") == formula.replace('\'', ""), "{safe}");
        }
        for (formula, expected) in [
            (";=1+1", "';'=1+1"),
            ("; \"=1+1", "';' \"=1+1"),
            ("x;=1+1;y", "x;'=1+1;y"),
            ("x\n=1", "x\n'=1"),
            (";x", "';x"),
        ] {
            assert_eq!(without_formulas(formula), expected);
        }
        for harmless in ["", "shop-1", "1-2", "a=b", "a; b", "a;b;", "नमस्ते", "#1"] {
            assert_eq!(without_formulas(harmless), harmless);
        }
    }
}
