//! Results of benchmarks: figures, their comparisons and targets. A figure has one sample per round, and shows the
//! median and the spread of its rounds.

/// The unit of a figure.
#[derive(Clone, Copy)]
pub enum Unit {
    PerSecond,
    Millis,
    Seconds,
    /// Processor time per 1,000 pieces of work.
    CpuSecondsPer1000,
    Megabytes,
}

/// What the median of the ratios to the baseline must reach. There are no absolute targets, because machines differ.
#[derive(Clone, Copy)]
pub enum Target {
    AtLeast(f64),
    AtMost(f64),
}

/// Rounds on a busy machine differ by this factor without a reason in the code.
const NOISE: f64 = 1.15;

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
        let note = note.into();
        self.samples.iter_mut().for_each(|sample| sample.notes.push(note.clone()));
        self
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

    fn target_text(&self) -> String {
        let Some(target) = self.target else { return String::new() };
        let ratio = self.ratios().map_or(f64::NAN, |ratio| ratio.median);
        let (sign, bound, missed_by) = match target {
            Target::AtLeast(bound) => ("≥", bound, bound / ratio),
            Target::AtMost(bound) => ("≤", bound, ratio / bound),
        };
        let verdict = match missed_by {
            ..=1.0 => "met",
            ..=NOISE => "missed within noise",
            _ => "**missed**",
        };
        format!("{sign} {bound} ×: {verdict}")
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
    fn text(self, value: f64) -> String {
        self.number(value) + self.suffix()
    }

    fn spread(self, spread: &Spread) -> String {
        spread.text(|value| self.number(value), self.suffix())
    }

    fn number(self, value: f64) -> String {
        match self {
            Self::PerSecond => number(value),
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
        }
    }
}

/// With thousands separators.
fn number(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
        let found = rounds(Target::AtLeast(1.2), &[(1_000.0, 500.0), (2_000.0, 4_000.0), (1_200.0, 1_000.0)]);
        let line = "| orders | 1,200/s [1,000–2,000] | 1,000/s: pgbench | 1.20 [0.50–2.00] | ≥ 1.2 ×: met | round 2 |";
        assert_eq!(found, [line]);
    }

    #[test]
    fn one_round_has_no_spread() {
        let found = rounds(Target::AtMost(1.5), &[(1_000.0, 500.0)]);
        assert_eq!(found, ["| orders | 1,000/s | 500/s: pgbench | 2.00 | ≤ 1.5 ×: **missed** | round 0 |"]);
    }

    #[test]
    fn two_rounds_have_their_mean_and_the_notes_of_the_lower_one() {
        let found = rounds(Target::AtMost(1.5), &[(2_000.0, 1_000.0), (1_000.0, 1_000.0)]);
        let line = "| orders | 1,500/s [1,000–2,000] | 1,000/s: pgbench | 1.50 [1.00–2.00] | ≤ 1.5 ×: met | round 1 |";
        assert_eq!(found, [line]);
    }

    #[test]
    fn targets_are_judged_by_the_median_and_not_by_the_best_or_worst_round() {
        let is_met = |target, samples: &[(f64, f64)]| !rounds(target, samples)[0].contains("**missed**");
        let low_twice = [(80.0, 100.0), (80.0, 100.0), (200.0, 100.0)];
        let high_twice = [(80.0, 100.0), (200.0, 100.0), (200.0, 100.0)];
        let (low, high) = (Target::AtMost(1.0), Target::AtLeast(1.0));
        assert_eq!((is_met(low, &low_twice), is_met(low, &high_twice)), (true, false));
        assert_eq!((is_met(high, &low_twice), is_met(high, &high_twice)), (false, true));
        // The ratio of the medians would be 1.5, the median of the ratios is 1.
        assert!(is_met(Target::AtMost(1.0), &[(100.0, 100.0), (150.0, 150.0), (300.0, 100.0)]));
    }

    #[test]
    fn a_small_miss_is_within_noise() {
        for (target, ratio) in [(Target::AtLeast(1.0), 0.9), (Target::AtMost(1.0), 1.1)] {
            assert!(rounds(target, &[(ratio, 1.0)])[0].contains(": missed within noise |"));
        }
    }

    #[test]
    fn only_figures_of_the_same_name_are_joined() {
        let mut section = Section::new("Orders", [("calls", 1.0), ("cost", 5.0), ("calls", 3.0)].map(rate));
        section.join(Section::new("Orders", [("cost", 5.0), ("more", 7.0)].map(rate)));
        let lines: Vec<_> = section.lines().collect();
        assert_eq!(
            lines,
            [
                "| calls | 2/s [1–3] | – | – |  |  |",
                "| cost | 5/s | – | – |  |  |",
                "| more | 7/s | – | – |  |  |",
            ]
        );
    }

    fn rate((what, value): (&str, f64)) -> Figure {
        Figure::new(what, value, Unit::PerSecond)
    }
}
