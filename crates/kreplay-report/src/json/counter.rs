//! A counter's value in a dispatch, or its values over the dispatches of a kernel.

use kreplay_protocol::Value;
use kreplay_store::{ReadingRow, way_name};
use serde::Serialize;

use super::parts::Number;
use crate::by_kernel::ValueTotals;

#[derive(Serialize)]
pub(super) struct Counter<'a> {
    name: &'a str,
    pass: Option<u32>,
    /// Of a dispatch.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Number>,
    unit: &'a str,
    simulated: bool,
    derived: bool,
    instance: u32,
    way: Option<&'static str>,
    bound: Option<f64>,
    /// Of a kernel.
    #[serde(flatten)]
    totals: Option<Totals>,
}

#[derive(Serialize)]
struct Totals {
    dispatches: u64,
    mean: f64,
    min: f64,
    max: f64,
}

impl<'a> Counter<'a> {
    pub(super) fn of_dispatch(row: &'a ReadingRow, simulated: bool) -> Self {
        let value = match row.value {
            Value::Count(count) => Number::Count(count),
            Value::Real(real) => Number::Real(real),
        };
        Counter { value: Some(value), ..Counter::named(row, simulated) }
    }

    pub(super) fn of_kernel(totals: &'a ValueTotals, simulated: bool) -> Self {
        let &ValueTotals { ref first, bound, dispatches, mean, min, max, .. } = totals;
        Counter { bound, totals: Some(Totals { dispatches, mean, min, max }), ..Counter::named(first, simulated) }
    }

    fn named(row: &'a ReadingRow, simulated: bool) -> Self {
        Counter {
            name: &row.counter.name,
            pass: row.pass,
            value: None,
            unit: &row.counter.unit,
            simulated,
            derived: row.derived,
            instance: row.instance,
            way: row.way.map(way_name),
            bound: row.bound,
            totals: None,
        }
    }
}
