//! A workbook with one sheet (ECMA-376-1 §18), as a stream: libraries for workbooks keep all rows in memory or in a temporary file,
//! and this service has no file system to write to.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{NaiveDate, NaiveDateTime, Timelike as _};
use chrono_tz::Tz;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::domain::csv;
use crate::exports::domain::Cell;

const CONTENT_TYPES: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>"#;
const RELATIONSHIPS: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const WORKBOOK: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Export" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
const PARTS_OF_WORKBOOK: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#;
/// The styles are numbered in `cellXfs`: plain, and those below.
const STYLES: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"#;
const BOLD: u8 = 1;
const MONEY: u8 = 2;
const TIME: u8 = 3;
const DATE: u8 = 4;
/// The first row stays visible.
const SHEET_BEGIN: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/>"#;
const SHEET_END: &str = "</sheetData></worksheet>";
/// In characters.
const COLUMN_WIDTH: u8 = 20;
/// Of the rows' XML, with room for the rest of the sheet: one of 4 GiB needs ZIP64, and Excel rejects a ZIP64 entry whose sizes
/// follow its data.
const SHEET_BYTES_MAX: usize = 0xffff_0000;
/// With the row of names.
pub(crate) const SHEET_ROWS_MAX: u32 = 1_048_576;
/// Part of the limit of 32,767 UTF-16 units. No field of an order is as long.
const TEXT_MAX_CHARS: usize = 16_000;

pub(crate) struct Xlsx {
    zip: ZipWriter<StreamWriter<Sink>>,
    sink: Sink,
    zone: Tz,
    rows: u32,
    /// Of the rows, before the compression.
    bytes: usize,
}

/// What the compression has written and nobody has taken yet.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Xlsx {
    pub(crate) fn begin(columns: &[String], zone: Tz) -> io::Result<Self> {
        let sink = Sink::default();
        let mut zip = ZipWriter::new_stream(sink.clone());
        for (path, content) in [
            ("[Content_Types].xml", CONTENT_TYPES),
            ("_rels/.rels", RELATIONSHIPS),
            ("xl/workbook.xml", WORKBOOK),
            ("xl/_rels/workbook.xml.rels", PARTS_OF_WORKBOOK),
            ("xl/styles.xml", STYLES),
        ] {
            zip.start_file(path, options())?;
            zip.write_all(content.as_bytes())?;
        }
        zip.start_file("xl/worksheets/sheet1.xml", options())?;
        let width = format!(
            r#"<cols><col min="1" max="{}" width="{COLUMN_WIDTH}" customWidth="1"/></cols><sheetData>"#,
            columns.len()
        );
        zip.write_all(SHEET_BEGIN.as_bytes())?;
        zip.write_all(width.as_bytes())?;
        let mut sheet = Self { zip, sink, zone, rows: 0, bytes: 0 };
        let mut names = String::new();
        for (index, name) in columns.iter().enumerate() {
            write_text(&mut names, &reference(index, 1), BOLD, name);
        }
        sheet.write_row(&names)?;
        Ok(sheet)
    }

    /// [`io::ErrorKind::FileTooLarge`] when the sheet is full.
    pub(crate) fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        let mut row = String::new();
        for (index, cell) in cells.iter().enumerate() {
            self.write_cell(&mut row, &reference(index, self.rows + 1), cell);
        }
        self.write_row(&row)
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.sink.take()
    }

    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        self.zip.write_all(SHEET_END.as_bytes())?;
        self.zip.finish()?;
        Ok(self.sink.take())
    }

    fn write_row(&mut self, cells: &str) -> io::Result<()> {
        self.rows += 1;
        let row = format!(r#"<row r="{}">{cells}</row>"#, self.rows);
        self.bytes += row.len();
        if self.bytes > SHEET_BYTES_MAX || self.rows > SHEET_ROWS_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.zip.write_all(row.as_bytes())
    }

    fn write_cell(&self, row: &mut String, at: &str, cell: &Cell) {
        let (style, value) = match cell {
            Cell::Empty => return,
            Cell::Text(text) => return write_text(row, at, 0, text),
            Cell::Number(number) => (0, number.to_string()),
            Cell::Money(amount) => (MONEY, csv::rupees(*amount)),
            Cell::Time(time) => (TIME, serial(time.with_timezone(&self.zone).naive_local())),
            Cell::Date(date) => (DATE, serial((*date).into())),
        };
        let _infallible = write!(row, r#"<c r="{at}" s="{style}"><v>{value}</v></c>"#);
    }
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

/// A text is never a formula.
fn write_text(row: &mut String, at: &str, style: u8, text: &str) {
    let _infallible = write!(row, r#"<c r="{at}" s="{style}" t="inlineStr"><is><t xml:space="preserve">"#);
    for character in text.chars().take(TEXT_MAX_CHARS) {
        match character {
            '&' => row.push_str("&amp;"),
            '<' => row.push_str("&lt;"),
            '>' => row.push_str("&gt;"),
            // XML 1.0 has no other control characters.
            '\t' | '\n' | '\r' => row.push(character),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            _ => row.push(character),
        }
    }
    row.push_str("</t></is></c>");
}

/// `A1` of the first column and row.
fn reference(column: usize, row: u32) -> String {
    let letter = |index: usize| char::from(b'A' + u8::try_from(index % 26).unwrap_or_default());
    let first = (column >= 26).then(|| letter(column / 26 - 1)).map(String::from).unwrap_or_default();
    format!("{first}{}{row}", letter(column))
}

/// Days since the end of 1899, without a time zone.
fn serial(time: NaiveDateTime) -> String {
    let epoch = NaiveDate::from_ymd_opt(1899, 12, 30).unwrap_or_default();
    let days = (time.date() - epoch).num_days();
    // Rounded: spreadsheets would show the second before otherwise.
    let fraction = (u64::from(time.num_seconds_from_midnight()) * 10_000_000 + 43_200) / 86_400;
    format!("{days}.{fraction:07}")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use domain::Paise;
    use zip::ZipArchive;

    use super::*;

    fn part(file: &[u8], path: &str) -> String {
        let mut archive = ZipArchive::new(io::Cursor::new(file)).unwrap();
        let mut text = String::new();
        archive.by_name(path).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_sheet_has_typed_cells_and_a_header_that_stays() {
        let columns = ["Order", "Amount (INR)"].map(str::to_owned);
        let mut sheet = Xlsx::begin(&columns, Tz::Asia__Kolkata).unwrap();
        let time = "2026-01-31T18:30:00Z".parse().unwrap();
        let cells = [
            "=1+1 <&> \u{1}नमस्ते".into(),
            Cell::Money(Paise::new(-123_456)),
            Cell::Empty,
            Cell::Time(time),
            Cell::Date("2026-02-01".parse().unwrap()),
            Cell::Number(3),
        ];
        sheet.row(&cells).unwrap();
        let mut file = sheet.take();
        assert!(!file.is_empty(), "the begin does not wait for the end");
        file.extend(sheet.finish().unwrap());
        let rows = part(&file, "xl/worksheets/sheet1.xml");
        for expected in [
            r#"state="frozen""#,
            r#"<row r="1"><c r="A1" s="1" t="inlineStr"><is><t xml:space="preserve">Order</t></is></c><c r="B1""#,
            r#"<row r="2"><c r="A2" s="0" t="inlineStr"><is><t xml:space="preserve">=1+1 &lt;&amp;&gt; नमस्ते</t></is></c>"#,
            r#"<c r="B2" s="2"><v>-1234.56</v></c><c r="D2" s="3"><v>46054.0000000</v></c>"#,
            r#"<c r="E2" s="4"><v>46054.0000000</v></c><c r="F2" s="0"><v>3</v></c></row></sheetData></worksheet>"#,
        ] {
            assert!(rows.contains(expected), "{expected}: {rows}");
        }
    }

    #[test]
    fn a_long_file_comes_in_parts_of_bounded_size() {
        let mut sheet = Xlsx::begin(&["Order".to_owned()], Tz::UTC).unwrap();
        let (mut file, mut largest) = (sheet.take(), 0);
        for number in 0..20_000 {
            sheet.row(&[format!("order {number}").into()]).unwrap();
            if number % 1_000 == 0 {
                let part = sheet.take();
                largest = largest.max(part.len());
                file.extend(part);
            }
        }
        file.extend(sheet.finish().unwrap());
        assert!(largest < 64 * 1024, "{largest}");
        assert!(part(&file, "xl/worksheets/sheet1.xml").contains(r#"<row r="20001">"#));
    }

    #[test]
    fn a_sheet_is_full_before_it_needs_a_format_that_excel_rejects() {
        let mut sheet = Xlsx::begin(&["Order".to_owned()], Tz::UTC).unwrap();
        sheet.bytes = SHEET_BYTES_MAX - 200;
        sheet.row(&["a".into()]).unwrap();
        let full = sheet.row(&["b".repeat(200).into()]).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::FileTooLarge);
        let mut sheet = Xlsx::begin(&["Order".to_owned()], Tz::UTC).unwrap();
        sheet.rows = SHEET_ROWS_MAX - 1;
        sheet.row(&["last".into()]).unwrap();
        assert_eq!(sheet.row(&["more".into()]).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn columns_have_letters_and_times_are_days() {
        for (column, expected) in [(0, "A7"), (25, "Z7"), (26, "AA7"), (52, "BA7")] {
            assert_eq!(reference(column, 7), expected);
        }
        let time = |text: &str| text.parse::<NaiveDateTime>().unwrap();
        for (at, expected) in [
            ("1900-03-01T00:00:00", "61.0000000"),
            ("2024-01-01T12:00:00", "45292.5000000"),
            ("2024-01-01T23:59:59", "45292.9999884"),
            ("2026-11-30T13:21:17", "46356.5564468"),
        ] {
            assert_eq!(serial(time(at)), expected);
        }
    }
}
