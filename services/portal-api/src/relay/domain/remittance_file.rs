//! Reads the orders of a remittance from CSV: `order,amount,note`. An order is named by its id or reference; the amount is in
//! rupees. The amount and the note are optional, and so is a first line with the names of the columns.

use csv::{Position, ReaderBuilder, StringRecord, Trim};
use domain::Paise;

/// The wallet's limit.
pub(crate) const LINES_MAX: usize = 2_000;

/// A line, counted from 1 as in an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) order: String,
    pub(crate) amount: Option<Paise>,
    pub(crate) note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineError {
    pub(crate) number: u64,
    pub(crate) message: &'static str,
}

/// All lines, or every error.
pub(crate) fn read(text: &str) -> Result<Vec<Line>, Vec<LineError>> {
    // Spreadsheets begin files with a byte order mark, and end lines with two characters, which the reader counts one line late.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(text.as_bytes());
    let (mut lines, mut errors) = (Vec::new(), Vec::new());
    for (index, record) in reader.records().enumerate() {
        let Ok(record) = record else {
            errors.push(LineError { number: 0, message: "The file is not CSV." });
            break;
        };
        let number = record.position().map_or(0, |position| line_of(&text, position));
        let is_header = index == 0 && is_header(&record);
        if is_header && record.get(1).is_some_and(|name| name.to_lowercase().contains("paise")) {
            errors.push(LineError {
                number,
                message: "Amounts are in rupees. Change them, and name their column amount.",
            });
        }
        if is_header || record.iter().all(str::is_empty) {
            continue;
        }
        if lines.len() + errors.len() == LINES_MAX {
            errors.push(LineError {
                number,
                message: "A remittance has at most 2,000 orders. Split the file.",
            });
            break;
        }
        match line(number, &record) {
            Ok(line) => lines.push(line),
            Err(message) => errors.push(LineError { number, message }),
        }
    }
    if lines.is_empty() && errors.is_empty() {
        errors.push(LineError { number: 1, message: "The file names no order." });
    }
    if errors.is_empty() { Ok(lines) } else { Err(errors) }
}

/// A reference may be `order` too, so the second column is `amount`, with or without more words, such as its unit, also as in
/// `amountPaise`. Without an amount, the line of such a reference is `order,`.
fn is_header(record: &StringRecord) -> bool {
    let first_word = |name: &str| name.split(|c: char| !c.is_alphanumeric()).next().map(str::to_lowercase);
    let is_named = |word: &str| matches!(word, "amount" | "amountpaise" | "amountrupees" | "paise");
    let is_amount = record.get(1).is_none_or(|name| first_word(name).as_deref().is_some_and(is_named));
    record.get(0).is_some_and(|name| name.eq_ignore_ascii_case("order")) && is_amount
}

/// The reader lets a record begin with the empty lines before it.
fn line_of(text: &str, position: &Position) -> u64 {
    let rest = text.bytes().skip(usize::try_from(position.byte()).unwrap_or(usize::MAX));
    position.line() + u64::try_from(rest.take_while(|byte| *byte == b'\n').count()).unwrap_or(0)
}

fn line(number: u64, record: &StringRecord) -> Result<Line, &'static str> {
    let text = |column| record.get(column).filter(|text| !text.is_empty());
    if record.len() > 3 {
        return Err("Use three columns: order, amount and note. Put text with a comma in quotes.");
    }
    let order = text(0).ok_or("The order is missing.")?.to_owned();
    let amount = text(1).map(|text| rupees(text).ok_or_else(|| amount_error(text)));
    let note = text(2).map(str::to_owned);
    // `1,000` without quotes is the amount 1 with the note 000.
    if note.as_ref().is_some_and(|note| !note.contains(char::is_alphabetic)) {
        return Err("The note has no words. Write the amount without commas, or in quotes.");
    }
    Ok(Line { number, order, amount: amount.transpose()?, note })
}

fn amount_error(text: &str) -> &'static str {
    if text.contains(',') && rupees(&text.replace(',', "")).is_some() {
        return "A comma of the amount groups no digits. Write the amount without commas, such as 1250.50.";
    }
    "The amount must be rupees above 0, such as 1250.50."
}

/// `1250`, `1250.50` or `1,00,000.50`; never rounded.
fn rupees(text: &str) -> Option<Paise> {
    let (rupees, paise) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_grouped(rupees) || !is_number(paise) || paise.len() > 2 {
        return None;
    }
    let rupees = rupees.replace(',', "");
    if !is_number(&rupees) {
        return None;
    }
    let paise: i64 = format!("{paise:0<2}").parse().ok()?;
    let amount = rupees.parse::<i64>().ok()?.checked_mul(100)?.checked_add(paise)?;
    Paise::positive(amount).ok()
}

/// Without commas, or with Indian (`1,00,000`) or western groups (`100,000`), as pages read typed amounts.
fn is_grouped(digits: &str) -> bool {
    let lengths: Vec<usize> = digits.split(',').map(str::len).collect();
    let [first, middle @ .., 3] = lengths.as_slice() else { return lengths.len() == 1 };
    [2_usize, 3]
        .iter()
        .any(|group| (1..=*group).contains(first) && middle.iter().all(|length| length == group))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_line(number: u64, order: &str, paise: Option<i64>, note: Option<&str>) -> Line {
        Line { number, order: order.into(), amount: paise.map(Paise::new), note: note.map(Into::into) }
    }

    #[test]
    fn a_file_of_a_spreadsheet_is_read() {
        let text = "\u{feff}Order,Amount,Note\r\nord_1\r\n\r\n shop-2 , 10.5 ,\r\n\"a, b\",7,\"short, as agreed\"\r\n,,\r\n";
        let wanted = [
            read_line(2, "ord_1", None, None),
            read_line(4, "shop-2", Some(1_050), None),
            read_line(5, "a, b", Some(700), Some("short, as agreed")),
        ];
        assert_eq!(read(text).unwrap(), wanted);
        assert_eq!(read("one\ntwo").unwrap().len(), 2);
    }

    #[test]
    fn an_order_named_order_is_no_header() {
        for header in ["order", "Order,Amount (2 decimals),note"] {
            let lines = read(&format!("{header}\na")).unwrap();
            assert_eq!(lines, [read_line(2, "a", None, None)], "{header}");
        }
        for (text, paise, note) in
            [("order,10", Some(1_000), None), ("order,,x", None, Some("x")), ("order,", None, None)]
        {
            assert_eq!(read(text).unwrap(), [read_line(1, "order", paise, note)], "{text}");
        }
        for text in ["order,1e3\na", "Order,ten rupees", "order,amounts\na,5"] {
            let errors = read(text).unwrap_err();
            assert_eq!((errors.len(), errors[0].number), (1, 1), "{text}");
        }
    }

    #[test]
    fn a_header_in_paise_is_refused() {
        for header in [
            "order,amount_paise",
            "order,amountPaise",
            "order,Amount (paise)",
            "Order,AMOUNT IN PAISE,note",
            "order,paise",
        ] {
            let errors = read(&format!("{header}\na,5")).unwrap_err();
            assert_eq!((errors.len(), errors[0].number), (1, 1), "{header}");
            assert!(errors[0].message.starts_with("Amounts are in rupees."), "{header}");
        }
        let lines = read("order,Amount (rupees)\na,5").unwrap();
        assert_eq!(lines, [read_line(2, "a", Some(500), None)]);
    }

    #[test]
    fn grouped_digits_are_read_and_no_other_comma() {
        for (text, paise) in [
            ("1,437.08", 143_708),
            ("1,00,000", 10_000_000),
            ("100,000.5", 10_000_050),
            ("12,34,567", 123_456_700),
            ("1,234,567", 123_456_700),
        ] {
            let lines = read(&format!("a,\"{text}\"")).unwrap();
            assert_eq!(lines, [read_line(1, "a", Some(paise), None)], "{text}");
        }
        for text in ["10,50", "1,0000", "1234,567", "1,23,45", "100,00,000", "1,00,000,000", ",100", "100,"] {
            let errors = read(&format!("a,\"{text}\"")).unwrap_err();
            assert!(errors[0].message.starts_with("A comma of the amount"), "{text}: {errors:?}");
        }
        for text in ["1,2a", ",", "1,000.5,0", "0,000"] {
            assert_eq!(read(&format!("a,\"{text}\"")).unwrap_err().len(), 1, "{text}");
        }
    }

    #[test]
    fn every_wrong_line_is_named() {
        let text = "a,0\n,7\nb,1,x,y\nc,1.234\nd,-1\ne,1e3\nf,₹5\ng,1,000\nh,5";
        let errors = read(text).unwrap_err();
        let numbers: Vec<_> = errors.iter().map(|error| error.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
        for nothing in ["", "order,amount,note\n", "\n\n", ",,\n"] {
            assert_eq!(read(nothing).unwrap_err()[0].message, "The file names no order.");
        }
    }

    #[test]
    fn a_file_has_at_most_two_thousand_orders() {
        let lines = |count: usize| (0..count).map(|index| format!("shop-{index}\n")).collect::<String>();
        assert_eq!(read(&lines(LINES_MAX)).unwrap().len(), LINES_MAX);
        let errors = read(&lines(3 * LINES_MAX)).unwrap_err();
        assert_eq!((errors.len(), errors[0].number), (1, 2_001));
    }

    proptest! {
        /// An amount is exact or refused.
        #[test]
        fn amounts_are_exact(paise in 1_i64..=Paise::REQUEST_MAX.get()) {
            let text = format!("{}.{:02}", paise / 100, paise % 100);
            prop_assert_eq!(rupees(&text), Some(Paise::new(paise)));
            let more = format!("{text}1");
            prop_assert_eq!(rupees(&more), None);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _read = read(&text);
        }
    }
}
