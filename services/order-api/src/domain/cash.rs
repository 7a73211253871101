//! The cash on delivery that the fleet reports at each step.

use domain::{EventKind, Paise};

/// The reported amounts. `None`: the step was not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CashReports {
    pub collected: Option<Paise>,
    pub handed_over: Option<Paise>,
    pub settled: Option<Paise>,
}

impl CashReports {
    /// Records the amount of a `cod.*` event. Ignores all other events.
    pub fn record(&mut self, event: EventKind, amount: Option<Paise>) {
        match event {
            EventKind::CodCollected => self.collected = amount,
            EventKind::CodHandedOver => self.handed_over = amount,
            EventKind::CodSettled => self.settled = amount,
            _ => {}
        }
    }

    /// The latest amount that differs from the `expected` one, also when a later step reported the expected one.
    pub fn discrepancy(&self, expected: Paise) -> Option<Paise> {
        [self.settled, self.handed_over, self.collected]
            .into_iter()
            .flatten()
            .find(|reported| *reported != expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(collected: i64, handed_over: Option<i64>, settled: Option<i64>) -> CashReports {
        let mut reports = CashReports::default();
        reports.record(EventKind::CodCollected, Some(Paise::new(collected)));
        reports.record(EventKind::CodHandedOver, handed_over.map(Paise::new));
        reports.record(EventKind::CodSettled, settled.map(Paise::new));
        reports.record(EventKind::OrderDelivered, Some(Paise::new(1)));
        reports
    }

    #[test]
    fn any_step_with_another_amount_is_a_discrepancy() {
        for (reports, shown) in [
            (CashReports::default(), None),
            (reports(100, None, None), None),
            (reports(100, Some(100), Some(100)), None),
            (reports(90, None, None), Some(90)),
            (reports(0, None, None), Some(0)),
            (reports(100, Some(80), None), Some(80)),
            (reports(100, Some(100), Some(110)), Some(110)),
            (reports(90, Some(80), None), Some(80)),
            (reports(90, Some(100), Some(100)), Some(90)),
        ] {
            assert_eq!(reports.discrepancy(Paise::new(100)), shown.map(Paise::new), "{reports:?}");
        }
    }
}
