//! The words of a fault specification.

/// Which allocations fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Device memory and host memory.
    Any,
    /// Device memory.
    Vram,
    /// Host memory of the runtime.
    Host,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An allocation fails.
    AllocFail(Pool),
    /// A completion signal is never decremented.
    DropSignal,
    /// A dispatch spins until cancelled.
    Spin,
    /// Stores to one chunk of this many bytes are undone.
    MissedWrite(u64),
    /// One byte outside the write set changes.
    EscapedWrite(Option<u64>),
    /// Somebody else writes.
    ForeignWrite {
        /// Where.
        address: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// A copy gets a byte wrong.
    CorruptCopy,
    /// A dispatch becomes a queue error with this code.
    QueueError(u64),
    /// The stream of samples goes wrong.
    Sampling(SamplingFault),
}

/// What goes wrong with samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingFault {
    /// A dispatch's activity runs together with the next one's.
    Merge,
    /// A sample is not stored, and nothing tells.
    Lose,
    /// Something else runs behind a dispatch.
    Stray,
    /// A programming is accepted, and the one before stays.
    Stuck,
}

/// One fault and when it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// What.
    pub kind: FaultKind,
    /// At which matching event, from 1.
    pub n: u64,
    /// For how many of them in a row.
    pub count: u64,
    /// Only for dispatches of this kernel object.
    pub kernel: Option<u64>,
}

/// What is wrong with a specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fault `{part}`: {why}")]
pub struct SpecError {
    part: String,
    why: String,
}

impl FaultSpec {
    /// Reads a `;`-separated list; empty parts are skipped.
    ///
    /// # Errors
    /// [`SpecError`] names the part and what is wrong with it.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, SpecError> {
        let parts = text.split(';').map(str::trim).filter(|p| !p.is_empty());
        parts.map(|part| parse(part).map_err(|why| SpecError { part: part.to_owned(), why })).collect()
    }
}

fn parse(part: &str) -> Result<FaultSpec, String> {
    let (name, rest) = part.split_once(':').unwrap_or((part, ""));
    let mut keys = Keys(Vec::new());
    for pair in rest.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        keys.0.push(pair.split_once('=').ok_or_else(|| format!("`{pair}` is not KEY=VALUE"))?);
    }
    let kind = match name {
        "alloc-fail" => FaultKind::AllocFail(match keys.take("pool") {
            None | Some("any") => Pool::Any,
            Some("vram") => Pool::Vram,
            Some("host") => Pool::Host,
            Some(other) => return Err(format!("no pool is called `{other}`")),
        }),
        "drop-signal" => FaultKind::DropSignal,
        "spin" => FaultKind::Spin,
        "missed-write" => {
            let chunk = keys.number("chunk")?.unwrap_or(4096);
            if !chunk.is_power_of_two() {
                return Err("a chunk is a power of two".to_owned());
            }
            FaultKind::MissedWrite(chunk)
        }
        "escaped-write" => FaultKind::EscapedWrite(keys.number("address")?),
        "foreign-write" => FaultKind::ForeignWrite {
            address: keys.number("address")?.ok_or("an address is needed")?,
            bytes: hex(keys.take("bytes").ok_or("bytes are needed")?)?,
        },
        "corrupt-copy" => FaultKind::CorruptCopy,
        "sampling-merge" => FaultKind::Sampling(SamplingFault::Merge),
        "sampling-lose" => FaultKind::Sampling(SamplingFault::Lose),
        "sampling-stray" => FaultKind::Sampling(SamplingFault::Stray),
        "sampling-stuck" => FaultKind::Sampling(SamplingFault::Stuck),
        "queue-error" => FaultKind::QueueError(keys.number("code")?.unwrap_or(0x4000_0000)),
        other => return Err(format!("no fault is called `{other}`")),
    };
    let n = keys.number("n")?.ok_or("n is needed: at which event it happens")?;
    if n == 0 {
        return Err("n counts from 1".to_owned());
    }
    let count = match keys.take("count") {
        None => 1,
        Some("all") => u64::MAX,
        Some(text) => number(text)?,
    };
    let kernel = keys.number("kernel")?;
    if let Some((left, _)) = keys.0.first() {
        return Err(format!("`{name}` knows no `{left}`"));
    }
    Ok(FaultSpec { kind, n, count, kernel })
}

/// Key and value pairs not used yet.
struct Keys<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Keys<'a> {
    fn take(&mut self, key: &str) -> Option<&'a str> {
        let at = self.0.iter().position(|(k, _)| *k == key)?;
        Some(self.0.remove(at).1)
    }

    fn number(&mut self, key: &str) -> Result<Option<u64>, String> {
        self.take(key).map(number).transpose()
    }
}

fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is not a number"))
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let bad = || format!("`{text}` is not pairs of hexadecimal digits");
    if text.is_empty() || !text.len().is_multiple_of(2) || !text.is_ascii() {
        return Err(bad());
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).map_err(|_| bad())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_understood() {
        let list = FaultSpec::parse_list(
            "alloc-fail:n=3,pool=vram,count=all; drop-signal:n=1,kernel=0x40;spin:n=2;missed-write:n=1,chunk=64;\
             escaped-write:n=5,address=0x1000;foreign-write:n=1,address=16,bytes=00fF;corrupt-copy:n=1;queue-error:n=1,code=32;",
        )
        .unwrap();
        let spec = |kind, n| FaultSpec { kind, n, count: 1, kernel: None };
        assert_eq!(list[0], FaultSpec { count: u64::MAX, ..spec(FaultKind::AllocFail(Pool::Vram), 3) });
        assert_eq!(list[1], FaultSpec { kernel: Some(0x40), ..spec(FaultKind::DropSignal, 1) });
        assert_eq!(list[2], spec(FaultKind::Spin, 2));
        assert_eq!(list[3], spec(FaultKind::MissedWrite(64), 1));
        assert_eq!(list[4], spec(FaultKind::EscapedWrite(Some(0x1000)), 5));
        assert_eq!(list[5], spec(FaultKind::ForeignWrite { address: 16, bytes: vec![0, 0xff] }, 1));
        assert_eq!(list[6], spec(FaultKind::CorruptCopy, 1));
        assert_eq!(list[7], spec(FaultKind::QueueError(32), 1));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, words) in [
            ("nonsense:n=1", "no fault is called `nonsense`"),
            ("spin", "n is needed"),
            ("spin:n=0", "n counts from 1"),
            ("spin:n=x", "`x` is not a number"),
            ("spin:n=1,pool=vram", "knows no `pool`"),
            ("missed-write:n=1,chunk=3", "power of two"),
            ("foreign-write:n=1,address=1,bytes=abc", "hexadecimal"),
            ("spin:n", "is not KEY=VALUE"),
        ] {
            let error = FaultSpec::parse_list(text).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(text), "{error}");
        }
    }
}
