//! Writes the rows of a file, part by part, so that memory is bounded.

mod xlsx;

use std::io;

use crate::domain::{RegionFormat, csv};
use crate::exports::domain::{Cell, ExportFormat};
pub(crate) use xlsx::SHEET_ROWS_MAX;
use xlsx::Xlsx;

/// Tells Excel that a text is UTF-8, which it reads as the code page of its country otherwise. Readers of UTF-8 skip it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

pub(crate) enum Writer {
    Csv { written: Vec<u8>, region: RegionFormat },
    Xlsx(Box<Xlsx>),
}

impl Writer {
    /// Begins with the names of the columns.
    pub(crate) fn begin(format: ExportFormat, columns: &[String], region: RegionFormat) -> io::Result<Self> {
        Ok(match format {
            ExportFormat::Csv => {
                let written = [BYTE_ORDER_MARK, csv::record(columns).as_slice()].concat();
                Self::Csv { written, region }
            }
            ExportFormat::Xlsx => Self::Xlsx(Box::new(Xlsx::begin(columns, region.zone)?)),
        })
    }

    pub(crate) fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        match self {
            Self::Csv { written, region } => {
                written.extend(csv::record(cells.iter().map(|cell| csv_cell(cell, *region))));
                Ok(())
            }
            Self::Xlsx(sheet) => sheet.row(cells),
        }
    }

    /// What has been written since the last call.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        match self {
            Self::Csv { written, .. } => std::mem::take(written),
            Self::Xlsx(sheet) => sheet.take(),
        }
    }

    /// The rest of the file.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Csv { written, .. } => Ok(written),
            Self::Xlsx(sheet) => sheet.finish(),
        }
    }
}

fn csv_cell(cell: &Cell, region: RegionFormat) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => csv::without_formulas(text),
        Cell::Number(number) => number.to_string(),
        Cell::Money(amount) => csv::rupees(*amount),
        Cell::Time(time) => region.spreadsheet_time(*time),
        Cell::Date(date) => date.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use domain::Paise;

    use super::*;
    use crate::domain::Locale;

    #[test]
    fn csv_has_rupees_and_local_times_and_no_formulas_of_others() {
        let region = RegionFormat { locale: Locale::India, zone: chrono_tz::Tz::Asia__Kolkata };
        let columns = ["Order", "Paid (INR)"].map(str::to_owned);
        let mut writer = Writer::begin(ExportFormat::Csv, &columns, region).unwrap();
        let time = "2026-01-31T18:30:00Z".parse().unwrap();
        let date = "2026-02-01".parse().unwrap();
        writer.row(&["=1+1".into(), Paise::new(-5_005).into(), Cell::Time(time)]).unwrap();
        let begin = String::from_utf8(writer.take()).unwrap();
        assert_eq!(begin, "\u{feff}Order,Paid (INR)\r\n'=1+1,-50.05,2026-02-01 00:00:00\r\n");
        writer.row(&[Cell::Empty, Cell::Number(-3), Cell::Date(date)]).unwrap();
        assert_eq!(String::from_utf8(writer.finish().unwrap()).unwrap(), ",-3,2026-02-01\r\n");
    }
}
