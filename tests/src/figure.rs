//! Results of benchmarks: figures, their comparisons and targets. A figure has one sample per round, and shows the
//! median and the spread of its rounds.

use serde::{Deserialize, Serialize};

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    PerSecond,
    Millis,
    Seconds,
    /// Processor time per 1,000 pieces of work.
    CpuSecondsPer1000,
    Megabytes,
    Bytes,
    Count,
}

/// What the median must reach.
#[derive(Clone, Copy)]
pub enum Target {
    AtLeast(f64),
    AtMost(f64),
    RatioAtLeast(f64),
    RatioAtMost(f64),
}

/// One figure of a benchmark.
pub struct Figure {
    what: String,
    unit: Unit,
    /// What it is compared with.
    baseline: Option<String>,
    target: Option<Target>,
    /// Of each round.
    samples: Vec<Sample>,
}

/// The result of one round.
struct Sample {
    value: f64,
    /// The comparison's value of the same round.
    baseline: Option<f64>,
    /// Additional text: percentiles, parts of a sum, checks.
    notes: Vec<String>,
}

/// The figures of one benchmark.
pub struct Section {
    pub title: String,
    figures: Vec<Figure>,
}

impl Section {
    /// Figures with the same name are joined.
    pub fn new(title: impl Into<String>, figures: impl IntoIterator<Item = Figure>) -> Self {
        let mut section = Self { title: title.into(), figures: Vec::new() };
        figures.into_iter().for_each(|figure| section.add(figure));
        section
    }

    /// Adds the samples of another round.
    pub fn join(&mut self, round: Self) {
        round.figures.into_iter().for_each(|figure| self.add(figure));
    }

    /// The rows of the table.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.figures.iter().map(Figure::line)
    }

    fn add(&mut self, figure: Figure) {
        match self.figures.iter_mut().find(|known| known.what == figure.what) {
            Some(known) => known.samples.extend(figure.samples),
            None => self.figures.push(figure),
        }
    }
}

impl Figure {
    pub fn new(what: impl Into<String>, value: f64, unit: Unit) -> Self {
        let sample = Sample { value, baseline: None, notes: Vec::new() };
        Self { what: what.into(), unit, baseline: None, target: None, samples: vec![sample] }
    }

    #[must_use]
    pub fn compared_with(mut self, what: impl Into<String>, value: f64) -> Self {
        self.baseline = Some(what.into());
        self.samples.iter_mut().for_each(|sample| sample.baseline = Some(value));
        self
    }

    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.add_note(note);
        self
    }

    pub fn add_note(&mut self, note: impl Into<String>) {
        let note = note.into();
        self.samples.iter_mut().for_each(|sample| sample.notes.push(note.clone()));
    }

    /// A row of the table.
    pub fn line(&self) -> String {
        let baseline = self.baselines().zip(self.baseline.as_ref());
        let baseline = baseline.map_or_else(
            || "–".to_owned(),
            |(value, what)| format!("{}: {what}", self.unit.text(value.median)),
        );
        format!(
            "| {} | {} | {baseline} | {} | {} | {} |",
            self.what,
            self.unit.spread(&self.values()),
            self.ratios()
                .map_or_else(|| "–".to_owned(), |ratio| ratio.text(|ratio| format!("{ratio:.2}"), "")),
            self.target_text(),
            self.notes().join("; ")
        )
    }

    fn values(&self) -> Spread {
        Spread::of(self.samples.iter().map(|sample| sample.value))
    }

    fn baselines(&self) -> Option<Spread> {
        let values: Option<Vec<f64>> = self.samples.iter().map(|sample| sample.baseline).collect();
        values.map(Spread::of)
    }

    fn ratios(&self) -> Option<Spread> {
        let ratios: Option<Vec<f64>> =
            self.samples.iter().map(|sample| Some(sample.value / sample.baseline?)).collect();
        ratios.map(Spread::of)
    }

    /// Of the round with the median value; with an even number of rounds, of the lower one in the middle.
    fn notes(&self) -> &[String] {
        let mut samples: Vec<_> = self.samples.iter().collect();
        samples.sort_by(|one, other| one.value.total_cmp(&other.value));
        samples.get((samples.len() - 1) / 2).map_or(&[], |sample| &sample.notes)
    }

    fn is_met(&self, target: Target) -> bool {
        let (value, ratio) = (self.values().median, self.ratios().map_or(f64::NAN, |ratio| ratio.median));
        match target {
            Target::AtLeast(bound) => value >= bound,
            Target::AtMost(bound) => value <= bound,
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
}

/// The table's head, for [`Figure::line`].
pub const HEAD: &str = "| figure | Waybill | comparison | ratio | target | notes |
| --- | ---: | --- | ---: | --- | --- |";

/// The rounds of one quantity.
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

impl Spread {
    /// The median of an even number of rounds is the mean of the two in the middle.
    fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values = Vec::from_iter(values);
        values.sort_unstable_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let last = values.len().saturating_sub(1);
        Self { median: (at(last / 2) + at(last.div_ceil(2))) / 2.0, min: at(0), max: at(last) }
    }

    /// The median, and the range if the rounds differ.
    fn text(&self, number: impl Fn(f64) -> String, suffix: &str) -> String {
        let (median, min, max) = (number(self.median), number(self.min), number(self.max));
        if min == max { format!("{median}{suffix}") } else { format!("{median}{suffix} [{min}–{max}]") }
    }
}

impl Unit {
    pub fn text(self, value: f64) -> String {
        self.number(value) + self.suffix()
    }

    fn spread(self, spread: &Spread) -> String {
        spread.text(|value| self.number(value), self.suffix())
    }

    fn number(self, value: f64) -> String {
        match self {
            Self::PerSecond | Self::Bytes | Self::Count => number(value),
            Self::Millis if value < 10.0 => format!("{value:.2}"),
            Self::Millis | Self::Megabytes => format!("{value:.1}"),
            Self::Seconds => format!("{value:.2}"),
            Self::CpuSecondsPer1000 => format!("{value:.3}"),
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::PerSecond => "/s",
            Self::Millis => " ms",
            Self::Seconds => " s",
            Self::CpuSecondsPer1000 => " CPU s per 1,000",
            Self::Megabytes => " MB",
            Self::Bytes => " bytes",
            Self::Count => "",
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
pub fn percentile(sorted: &[f64], part: f64) -> f64 {
    sorted.get((sorted.len() as f64 * part) as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A section of one figure, measured with these values next to these comparisons.
    fn rounds(target: Target, samples: &[(f64, f64)]) -> Vec<String> {
        let mut section = Section::new("Orders", []);
        for (round, (value, baseline)) in samples.iter().enumerate() {
            let figure = Figure::new("orders", *value, Unit::PerSecond)
                .compared_with("pgbench", *baseline)
                .target(target)
                .note(format!("round {round}"));
            section.join(Section::new("Orders", [figure]));
        }
        section.lines().collect()
    }

    #[test]
    fn a_figure_shows_the_medians_of_its_rounds_and_their_spread() {
        let found =
            rounds(Target::AtLeast(1_200.0), &[(1_000.0, 500.0), (2_000.0, 4_000.0), (1_200.0, 1_000.0)]);
        let line = "| orders | 1,200/s [1,000–2,000] | 1,000/s: pgbench | 1.20 [0.50–2.00] | ≥ 1,200/s: met | round 2 |";
        assert_eq!(found, [line]);
    }

    #[test]
    fn one_round_has_no_spread() {
        let found = rounds(Target::RatioAtMost(1.5), &[(1_000.0, 500.0)]);
        assert_eq!(found, ["| orders | 1,000/s | 500/s: pgbench | 2.00 | ≤ 1.5 ×: **missed** | round 0 |"]);
    }

    #[test]
    fn two_rounds_have_their_mean_and_the_notes_of_the_lower_one() {
        let found = rounds(Target::AtMost(1_500.0), &[(2_000.0, 1_000.0), (1_000.0, 1_000.0)]);
        let line = "| orders | 1,500/s [1,000–2,000] | 1,000/s: pgbench | 1.50 [1.00–2.00] | ≤ 1,500/s: met | round 1 |";
        assert_eq!(found, [line]);
    }

    #[test]
    fn targets_are_judged_by_the_median_and_not_by_the_best_or_worst_round() {
        let is_met = |target, samples: &[(f64, f64)]| !rounds(target, samples)[0].contains("**missed**");
        let low_twice = [(90.0, 100.0), (90.0, 100.0), (200.0, 100.0)];
        let high_twice = [(90.0, 100.0), (200.0, 100.0), (200.0, 100.0)];
        for (low, high) in [
            (Target::AtMost(100.0), Target::AtLeast(100.0)),
            (Target::RatioAtMost(1.0), Target::RatioAtLeast(1.0)),
        ] {
            assert_eq!((is_met(low, &low_twice), is_met(low, &high_twice)), (true, false));
            assert_eq!((is_met(high, &low_twice), is_met(high, &high_twice)), (false, true));
        }
        // The ratio of the medians would be 1.5, the median of the ratios is 1.
        assert!(is_met(Target::RatioAtMost(1.0), &[(100.0, 100.0), (150.0, 150.0), (300.0, 100.0)]));
    }

    #[test]
    fn only_figures_of_the_same_name_are_joined() {
        let mut section = Section::new("Orders", [("calls", 1.0), ("cost", 5.0), ("calls", 3.0)].map(count));
        section.join(Section::new("Orders", [("cost", 5.0), ("memory", 7.0)].map(count)));
        let lines: Vec<_> = section.lines().collect();
        assert_eq!(
            lines,
            [
                "| calls | 2 [1–3] | – | – |  |  |",
                "| cost | 5 | – | – |  |  |",
                "| memory | 7 | – | – |  |  |",
            ]
        );
    }

    fn count((what, value): (&str, f64)) -> Figure {
        Figure::new(what, value, Unit::Count)
    }
}
