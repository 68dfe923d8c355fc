//! When each of many samples was taken.
//!
//! Each that CUPTI is asked for takes time of the thread that decodes. The hardware takes samples at a steady beat, so a few are
//! asked for, and where these are as far apart as the beat makes them the others lie between.

/// Samples from one that is asked for to the next.
const STRIDE: usize = 16;
/// The hardware's clock differs from the samples' by one part in so many at most (an H200's: in 50 000).
const DRIFT: u64 = 5_000;
/// The samples' clock ticks no finer than this, in nanoseconds (H200).
const TICK: u64 = 32;

/// Begin and end of `count` samples that are taken every `interval` nanoseconds; `ask` tells them of one.
///
/// # Errors
/// Those of `ask`.
pub(super) fn times<E>(
    count: usize,
    interval: u64,
    ask: impl Fn(usize) -> Result<(u64, u64), E>,
) -> Result<Vec<(u64, u64)>, E> {
    let mut times: Vec<(u64, u64)> = Vec::with_capacity(count);
    while times.len() < count {
        let next = times.len();
        let far = (next + STRIDE - 1).min(count - 1);
        let known = ask(far)?;
        let steps = (far - next + 1) as u64;
        match times.last() {
            Some(&(_, from)) if steady(from, known, steps, interval) => {
                // One begins where the one before ends.
                let place = |step: u64| from + (known.0 - from) * step / (steps - 1);
                times.extend((1..steps).map(|step| (place(step - 1), place(step))));
            }
            _ => {
                for at in next..far {
                    times.push(ask(at)?);
                }
            }
        }
        times.push(known);
    }
    Ok(times)
}

/// Whether a sample that begins and ends so is the one `steps` after one that ended at `from`, with none missing and none longer
/// than the others.
fn steady(from: u64, (begin, end): (u64, u64), steps: u64, interval: u64) -> bool {
    let beat = |steps: u64| {
        let time = interval * steps;
        let slack = time / DRIFT + 2 * TICK;
        time.saturating_sub(slack)..=time + slack
    };
    let after = |time: u64| time.checked_sub(from);
    after(end).is_some_and(|time| beat(steps).contains(&time))
        && after(begin).is_some_and(|time| beat(steps - 1).contains(&time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const INTERVAL: u64 = 28_000;

    /// Samples by a clock that is some parts in a million off, and ticks.
    fn samples(count: u64, off: f64) -> Vec<(u64, u64)> {
        let end = |at: u64| (7_000_000 + (at as f64 * INTERVAL as f64 * (1.0 + off)) as u64) / TICK * TICK;
        (0..count).map(|at| (end(at), end(at + 1))).collect()
    }

    fn found(samples: &[(u64, u64)]) -> (Vec<(u64, u64)>, usize) {
        let asked = Cell::new(0);
        let ask = |at: usize| {
            asked.set(asked.get() + 1);
            samples.get(at).copied().ok_or("there is no such sample")
        };
        (times(samples.len(), INTERVAL, ask).expect("each is there"), asked.get())
    }

    #[test]
    fn few_of_many_are_asked_for_and_the_others_lie_between() {
        for off in [0.0, 2e-5, -2e-5] {
            let samples = samples(400, off);
            let (found, asked) = found(&samples);
            assert!(asked < 400 / STRIDE + 1 + STRIDE, "{asked}");
            assert_eq!(found.len(), samples.len());
            assert!(found.windows(2).all(|two| two[0].1 <= two[1].0), "they are in order");
            for (found, sample) in found.iter().zip(&samples) {
                assert!(
                    found.0.abs_diff(sample.0) <= TICK && found.1.abs_diff(sample.1) <= TICK,
                    "{found:?} {sample:?}"
                );
            }
        }
    }

    #[test]
    fn where_the_beat_is_lost_each_is_asked_for() {
        let regular = samples(100, 0.0);
        let mut missing = regular.clone();
        missing.remove(40);
        let mut long = regular.clone();
        long[40].1 += INTERVAL / 2;
        long[41].0 += INTERVAL / 2;
        let mut late = regular.clone();
        late.iter_mut().skip(47).for_each(|sample| *sample = (sample.0 + 500, sample.1 + 500));
        let mut reaching_back = regular.clone();
        reaching_back[0].0 -= 5_000_000;
        for (samples, exactly) in [(missing, 32..48), (late, 32..48), (reaching_back, 0..16)] {
            let (found, _) = found(&samples);
            assert_eq!(found[exactly.clone()], samples[exactly]);
            assert_eq!(found.last(), samples.last());
        }
        // One that is not asked for, with the others where they belong, is taken for one of them.
        assert_eq!(found(&long).0.len(), 100);
    }

    #[test]
    fn none_and_one_are_no_beat() {
        assert_eq!(found(&[]).0, []);
        assert_eq!(found(&[(5, 9)]).0, [(5, 9)]);
    }
}
