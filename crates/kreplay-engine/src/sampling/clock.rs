//! Host time brought to the device's clock.

use super::{Fence, Mismatch};

/// A reading of the device's clock between two of the host's, all in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Host clock, before the device's was asked.
    pub before: u64,
    /// What the device's clock said.
    pub device: u64,
    /// Host clock, after the answer.
    pub after: u64,
}

/// Maps host nanoseconds to the device's: a line through stamps, since the two drift apart, with a bound on its error.
///
/// The bound holds if the true relation is a line over the time of the stamps: a stamp tells the device's time at its
/// middle to half of its width, and the difference of two lines is largest at an end. Beyond the first and the last stamp
/// used the bound grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    host: u64,
    device: u64,
    /// Device nanoseconds for a host nanosecond.
    rate: f64,
    /// Bound between the first and the last stamp used.
    error: f64,
    /// Host time between those two.
    span: f64,
}

/// The rates of two clocks that both mean nanoseconds differ by less than this.
const MOST_DRIFT: f64 = 1e-3;

impl Clock {
    /// Fits a line through at least two stamps at different times: best a few at the beginning of a pass and a few at its
    /// end. Wide stamps, where the host was interrupted, are left out of the fit, but must agree with it.
    ///
    /// # Errors
    /// [`Mismatch::Clock`]: fewer than two usable stamps, a clock that runs backwards or was set, or no clock of
    /// nanoseconds.
    pub fn fit(stamps: &[Stamp]) -> Result<Self, Mismatch> {
        if stamps.iter().any(|stamp| stamp.after < stamp.before) {
            return Err(Mismatch::Clock);
        }
        let narrowest = stamps.iter().map(width).min().ok_or(Mismatch::Clock)?;
        let mut used: Vec<&Stamp> = stamps.iter().filter(|stamp| width(stamp) <= narrowest * 2 + 100).collect();
        used.sort_by_key(|stamp| stamp.before);
        let (Some(first), Some(last)) = (used.first(), used.last()) else { return Err(Mismatch::Clock) };
        let (host, device) = (middle(first), first.device);
        let span = middle(last) as f64 - host as f64;
        if span <= 0.0 || used.windows(2).any(|pair| pair[1].device < pair[0].device) {
            return Err(Mismatch::Clock);
        }
        let point = |stamp: &Stamp| (difference(middle(stamp), host), difference(stamp.device, device));
        let count = used.len() as f64;
        let (sum_x, sum_y) = used.iter().map(|stamp| point(stamp)).fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
        let (mean_x, mean_y) = (sum_x / count, sum_y / count);
        let products = used
            .iter()
            .map(|stamp| point(stamp))
            .fold((0.0, 0.0), |(xx, xy), (x, y)| (xx + (x - mean_x) * (x - mean_x), xy + (x - mean_x) * (y - mean_y)));
        let rate = products.1 / products.0;
        let slack = used.iter().map(|stamp| width(stamp)).max().unwrap_or(0) as f64 / span;
        if !rate.is_finite() || (rate - 1.0).abs() > MOST_DRIFT + slack {
            return Err(Mismatch::Clock);
        }
        let offset = mean_y - rate * mean_x;
        let off = |stamp: &Stamp| {
            let (x, y) = point(stamp);
            (y - (offset + rate * x)).abs()
        };
        let half = |stamp: &Stamp| width(stamp) as f64 / 2.0 * rate;
        let error = used.iter().map(|stamp| off(stamp) + half(stamp)).fold(0.0, f64::max);
        let clock = Self { host, device: shifted(device, offset), rate, error: error + 1.0, span };
        // A stamp that was left out contradicts the line when even its width does not explain the distance.
        let contradicts = |stamp: &Stamp| off(stamp) > half(stamp) + clock.bound(middle(stamp));
        if stamps.iter().any(contradicts) { Err(Mismatch::Clock) } else { Ok(clock) }
    }

    /// For a host and a device that read the same clock.
    pub fn same() -> Self {
        Self { host: 0, device: 0, rate: 1.0, error: 0.0, span: f64::INFINITY }
    }

    /// The device's time at a time of the host's.
    pub fn device(&self, host: u64) -> u64 {
        if self.rate == 1.0 {
            let shift = i128::from(self.device) - i128::from(self.host);
            return (i128::from(host) + shift).clamp(0, i128::from(u64::MAX)) as u64;
        }
        shifted(self.device, difference(host, self.host) * self.rate)
    }

    /// How far [`Clock::device`] may be off at this time of the host's, in nanoseconds.
    pub fn error(&self, host: u64) -> u64 {
        self.bound(host).ceil() as u64
    }

    /// The fence that two stamps of the host's make.
    pub fn fence(&self, from: u64, to: u64) -> Fence {
        Fence { from: self.device(from), to: self.device(to) }
    }

    fn bound(&self, host: u64) -> f64 {
        let x = difference(host, self.host);
        let beyond = (-x).max(x - self.span).max(0.0);
        self.error * (1.0 + 2.0 * beyond / self.span)
    }
}

fn width(stamp: &Stamp) -> u64 {
    stamp.after - stamp.before
}

fn middle(stamp: &Stamp) -> u64 {
    stamp.before + width(stamp) / 2
}

fn difference(value: u64, from: u64) -> f64 {
    (i128::from(value) - i128::from(from)) as f64
}

fn shifted(value: u64, by: f64) -> u64 {
    (i128::from(value) + by.round() as i128).clamp(0, i128::from(u64::MAX)) as u64
}
