//! Which chunks of a range are marked.

/// One bit a chunk of a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkMap {
    words: Vec<u64>,
    chunks: u64,
}

impl ChunkMap {
    /// A map of `chunks` chunks, none marked.
    pub fn new(chunks: u64) -> Self {
        Self { words: vec![0; chunks.div_ceil(64) as usize], chunks }
    }

    /// A map from words as a device writes them: bit `i % 64` of word `i / 64` is chunk `i`. Bits past `chunks` are
    /// dropped, missing words are zero.
    pub fn from_words(mut words: Vec<u64>, chunks: u64) -> Self {
        words.resize(chunks.div_ceil(64) as usize, 0);
        if let Some(last) = words.last_mut()
            && !chunks.is_multiple_of(64)
        {
            *last &= (1 << (chunks % 64)) - 1;
        }
        Self { words, chunks }
    }

    /// Chunks that the map covers.
    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Marks a chunk; one past the end is ignored.
    pub fn mark(&mut self, chunk: u64) {
        if chunk < self.chunks {
            self.words[(chunk / 64) as usize] |= 1 << (chunk % 64);
        }
    }

    /// Marks `count` chunks from `first`; those past the end are ignored.
    pub fn mark_run(&mut self, first: u64, count: u64) {
        for chunk in first..first.saturating_add(count).min(self.chunks) {
            self.mark(chunk);
        }
    }

    /// Marks what another map of as many chunks marks.
    pub fn unite(&mut self, other: &ChunkMap) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// What is marked here and not in `other`.
    pub fn without(&self, other: &ChunkMap) -> ChunkMap {
        let mut rest = self.clone();
        for (word, less) in rest.words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
        rest
    }

    /// Whether a chunk is marked.
    pub fn marked(&self, chunk: u64) -> bool {
        chunk < self.chunks && self.words[(chunk / 64) as usize] >> (chunk % 64) & 1 == 1
    }

    /// Chunks marked.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether no chunk is marked.
    pub fn is_clear(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Runs of marked chunks, `(first, count)`, in order.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            at = self.next(at, true)?;
            let first = at;
            at = self.next(at, false).unwrap_or(self.chunks);
            Some((first, at - first))
        })
    }

    /// The first chunk from `at` whose mark is `marked`.
    fn next(&self, at: u64, marked: bool) -> Option<u64> {
        let mut index = (at / 64) as usize;
        let mut mask = u64::MAX << (at % 64);
        while index < self.words.len() {
            let word = if marked { self.words[index] } else { !self.words[index] } & mask;
            if word != 0 {
                let found = index as u64 * 64 + u64::from(word.trailing_zeros());
                return (found < self.chunks).then_some(found);
            }
            index += 1;
            mask = u64::MAX;
            if marked {
                index += self.clear_from(index);
            }
        }
        None
    }

    /// Words from `index` on that are known to be clear: most of a large map is, and looking at several at once is cheap.
    fn clear_from(&self, index: usize) -> usize {
        const AT_ONCE: usize = 16;
        let words = self.words.get(index..).unwrap_or_default().chunks_exact(AT_ONCE);
        words.take_while(|words| words.iter().fold(0, |all, word| all | word) == 0).count() * AT_ONCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_join_neighbours_across_words() {
        let mut map = ChunkMap::new(200);
        for chunk in [0, 62, 63, 64, 65, 130, 199, 200] {
            map.mark(chunk);
        }
        assert_eq!(map.runs().collect::<Vec<_>>(), [(0, 1), (62, 4), (130, 1), (199, 1)]);
        assert_eq!(map.count(), 7);
    }

    #[test]
    fn marks_are_found_wherever_they_stand_in_a_large_map() {
        for marks in
            [vec![0], vec![63, 64], vec![1023, 1024], vec![1087], vec![5, 2047, 2048, 3000], vec![4095], vec![]]
        {
            let mut map = ChunkMap::new(4096);
            marks.iter().for_each(|mark| map.mark(*mark));
            let found: Vec<u64> = map.runs().flat_map(|(first, count)| first..first + count).collect();
            assert_eq!(found, marks);
        }
    }

    #[test]
    fn bits_past_the_end_are_dropped() {
        let map = ChunkMap::from_words(vec![u64::MAX], 3);
        assert_eq!(map.runs().collect::<Vec<_>>(), [(0, 3)]);
        assert_eq!(ChunkMap::from_words(vec![], 65).count(), 0);
    }
}
