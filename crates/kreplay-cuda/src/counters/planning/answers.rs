//! What CUPTI answered about lists of metrics. Each question takes it milliseconds, one about metrics of many passes a
//! hundred, and the ways to pack a request ask much the same again and again.

use super::host::ConfigImage;
use crate::counters::Guarded;
use crate::tables::CuptiError;
use std::sync::{Arc, Mutex};

/// What was asked for a chip, as long as what is available on it stays the same.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(in crate::counters) ranges: Answers,
    pub(in crate::counters) samples: Answers,
}

/// The answers of one interface: of ranges, or of sampling.
#[derive(Debug, Default)]
pub(in crate::counters) struct Answers(Mutex<Vec<Answer>>);

#[derive(Debug)]
struct Answer {
    /// In the order that was asked: the image, and sometimes the number of passes, depends on it.
    asked: Vec<Arc<str>>,
    /// The same by name, for [`within`].
    sorted: Vec<Arc<str>>,
    found: Result<ConfigImage, CuptiError>,
}

impl Answers {
    /// The answer to these metrics in this order; asks unless it is known.
    ///
    /// # Errors
    /// CUPTI's status.
    pub(in crate::counters) fn get(
        &self,
        metrics: &[Arc<str>],
        ask: impl FnOnce() -> Result<ConfigImage, CuptiError>,
    ) -> Result<ConfigImage, CuptiError> {
        if let Some(known) = self.0.guarded().iter().find(|answer| answer.asked == metrics) {
            return known.found.clone();
        }
        let found = ask();
        let answer = Answer { asked: metrics.to_vec(), sorted: sorted(metrics), found: found.clone() };
        self.0.guarded().push(answer);
        found
    }

    /// How many questions were asked.
    #[cfg(test)]
    pub(in crate::counters) fn asked(&self) -> usize {
        self.0.guarded().len()
    }

    /// Whether metrics fit one pass, as far as that follows: what is part of a pass fits one, and more than what does not
    /// fit one does not either.
    pub(in crate::counters) fn fits(&self, metrics: &[Arc<str>]) -> Option<bool> {
        let metrics = sorted(metrics);
        self.0.guarded().iter().find_map(|answer| {
            let fits = answer.found.as_ref().is_ok_and(|config| config.passes == 1);
            let follows = if fits { within(&metrics, &answer.sorted) } else { within(&answer.sorted, &metrics) };
            follows.then_some(fits)
        })
    }
}

fn sorted(metrics: &[Arc<str>]) -> Vec<Arc<str>> {
    let mut sorted = metrics.to_vec();
    sorted.sort();
    sorted
}

/// Whether all of `few` are among `many`; both are sorted.
fn within(few: &[Arc<str>], many: &[Arc<str>]) -> bool {
    let mut many = many.iter();
    few.iter().all(|metric| many.by_ref().any(|other| other == metric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::CuptiStatus;

    fn metrics(names: &[&str]) -> Vec<Arc<str>> {
        names.iter().map(|name| Arc::from(*name)).collect()
    }

    fn takes(passes: u32) -> Result<ConfigImage, CuptiError> {
        Ok(ConfigImage { bytes: Arc::new([]), passes })
    }

    #[test]
    fn nothing_is_asked_twice_and_an_order_is_a_question_of_its_own() {
        let answers = Answers::default();
        let passes = |names: &[&str], found| answers.get(&metrics(names), || found).map(|config| config.passes);
        let refused = CuptiError { call: "a call", status: CuptiStatus(27) };
        assert_eq!(passes(&["a", "b"], takes(2)), Ok(2));
        assert_eq!(passes(&["b", "a"], takes(3)), Ok(3));
        assert_eq!(passes(&["c"], Err(refused)), Err(refused));
        assert_eq!(passes(&["a", "b"], takes(4)), Ok(2));
        assert_eq!(passes(&["c"], takes(4)), Err(refused));
    }

    #[test]
    fn less_than_a_pass_fits_and_more_than_what_does_not_fit_does_not() {
        let answers = Answers::default();
        assert!(answers.get(&metrics(&["d", "a", "b"]), || takes(1)).is_ok());
        assert!(answers.get(&metrics(&["c", "b"]), || takes(2)).is_ok());
        let fits = |names: &[&str]| answers.fits(&metrics(names));
        assert_eq!((fits(&["a", "d"]), fits(&["b", "d", "a"])), (Some(true), Some(true)));
        assert_eq!((fits(&["b", "c"]), fits(&["a", "b", "c"])), (Some(false), Some(false)));
        assert_eq!((fits(&["a", "c"]), fits(&["e"])), (None, None));
    }
}
