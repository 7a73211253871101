//! A result: one figure, the comparison from the same run, and the target. All benches report these, and `table.rs`
//! prints them.

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    PerSecond,
    Millis,
    Seconds,
    /// Processor time per 1,000 pieces of work.
    CpuSecondsPer1000,
    Megabytes,
    Bytes,
    Count,
}

#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    RatioAtLeast(f64),
    RatioAtMost(f64),
}

/// The comparison: its name and its value.
struct Baseline {
    what: String,
    value: f64,
}

pub(crate) struct Figure {
    what: String,
    value: f64,
    unit: Unit,
    baseline: Option<Baseline>,
    target: Option<Target>,
    /// Additional text: percentiles, parts of a sum, checks.
    notes: Vec<String>,
}

/// The results of one bench.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) figures: Vec<Figure>,
}

impl Figure {
    pub(crate) fn new(what: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self { what: what.into(), value, unit, baseline: None, target: None, notes: Vec::new() }
    }

    pub(crate) fn compared_with(mut self, what: impl Into<String>, value: f64) -> Self {
        self.baseline = Some(Baseline { what: what.into(), value });
        self
    }

    pub(crate) fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.add_note(note);
        self
    }

    pub(crate) fn add_note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    fn ratio(&self) -> Option<f64> {
        self.baseline.as_ref().map(|baseline| self.value / baseline.value)
    }

    fn is_met(&self, target: Target) -> bool {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        match target {
            Target::AtLeast(bound) => self.value >= bound,
            Target::AtMost(bound) => self.value <= bound,
            Target::RatioAtLeast(bound) => ratio >= bound,
            Target::RatioAtMost(bound) => ratio <= bound,
        }
    }

    fn target_text(&self) -> String {
        let Some(target) = self.target else { return String::new() };
        let (sign, bound) = match target {
            Target::AtLeast(bound) => ("≥", self.unit.text(bound)),
            Target::AtMost(bound) => ("≤", self.unit.text(bound)),
            Target::RatioAtLeast(bound) => ("≥", format!("{bound} ×")),
            Target::RatioAtMost(bound) => ("≤", format!("{bound} ×")),
        };
        let met = if self.is_met(target) { "met" } else { "**missed**" };
        format!("{sign} {bound}: {met}")
    }

    /// A row of the table.
    pub(crate) fn line(&self) -> String {
        let baseline = self.baseline.as_ref().map_or_else(
            || "–".to_owned(),
            |Baseline { what, value }| format!("{}: {what}", self.unit.text(*value)),
        );
        let ratio = self.ratio().map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
        format!(
            "| {} | {} | {baseline} | {ratio} | {} | {} |",
            self.what,
            self.unit.text(self.value),
            self.target_text(),
            self.notes.join("; ")
        )
    }
}

/// The table's head, for [`Figure::line`].
pub(crate) const HEAD: &str = "| figure | Waybill | comparison | ratio | target | notes |
| --- | ---: | --- | ---: | --- | --- |";

impl Unit {
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", number(value)),
            Self::Millis => format!("{value:.1} ms"),
            Self::Seconds => format!("{value:.2} s"),
            Self::CpuSecondsPer1000 => format!("{value:.3} CPU s per 1,000"),
            Self::Megabytes => format!("{value:.1} MB"),
            Self::Bytes => format!("{} bytes", number(value)),
            Self::Count => number(value),
        }
    }
}

/// With thousands separators; small values with two decimals.
fn number(value: f64) -> String {
    if value.abs() < 100.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

/// The percentile of the values.
pub(crate) fn percentile(sorted: &[f64], part: f64) -> f64 {
    sorted.get((sorted.len() as f64 * part) as usize).copied().unwrap_or_default()
}
