//! Names as a log has them, hashed label by label, so that a name can be held
//! against another with a search domain behind it without being copied.

/// More labels than any name has that a stub resolver searches for. Longer
/// ones, in `ip6.arpa`, are counted and not joined with others.
pub(super) const MAX_LABELS: usize = 40;

/// Odd, so that it can be divided by, modulo 2^64. From the golden ratio.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Powers of [`BASE`].
const POWERS: [u64; MAX_LABELS + 1] = powers(BASE);
const INVERSES: [u64; MAX_LABELS + 1] = powers(inverse(BASE));

const DOTS: u64 = 0x2e2e_2e2e_2e2e_2e2e;
const ONES: u64 = 0x0101_0101_0101_0101;
/// Makes capitals small. It also changes characters that are in no name.
const SMALL: u64 = 0x2020_2020_2020_2020;

/// The hash of `svc`, which stands before the domain of a cluster.
pub(super) const SVC: u64 = label_hash(0, 0x0063_7673 | (SMALL & 0x00ff_ffff), 3);

/// A name in labels.
pub(super) struct Labels {
    /// How many.
    pub(super) count: usize,
    /// Of the first 0, 1, 2… labels.
    prefixes: [u64; MAX_LABELS + 1],
    /// Where in the text each label ends: at its dot.
    ends: [u16; MAX_LABELS],
    /// Which is the last one that is `svc`.
    svc: Option<usize>,
    /// Whether there are more labels than were looked at.
    pub(super) is_long: bool,
}

/// The end of a name: hash and number of its labels.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Suffix {
    pub(super) hash: u64,
    pub(super) labels: usize,
}

#[expect(
    clippy::indexing_slicing,
    reason = "the numbers are within bounds by construction"
)]
const fn powers(base: u64) -> [u64; MAX_LABELS + 1] {
    let mut powers = [1u64; MAX_LABELS + 1];
    let mut at = 1;
    while at <= MAX_LABELS {
        powers[at] = powers[at - 1].wrapping_mul(base);
        at += 1;
    }
    powers
}

/// Newton's iteration doubles the bits that are right.
const fn inverse(odd: u64) -> u64 {
    let mut found = odd;
    let mut round = 0;
    while round < 6 {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        round += 1;
    }
    found
}

const fn label_hash(before: u64, word: u64, length: usize) -> u64 {
    let mixed = (before ^ word ^ ((length as u64) << 59)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 32)
}

fn power(labels: usize) -> u64 {
    POWERS.get(labels).copied().unwrap_or_default()
}

/// Eight bytes of `text` from `at` on; those behind its end are 0.
fn word(text: &[u8], at: usize) -> u64 {
    let Some(rest) = text.get(at..) else {
        return 0;
    };
    if let Some(bytes) = rest.first_chunk::<8>() {
        return u64::from_le_bytes(*bytes);
    }
    let bytes = rest.iter().rev();
    bytes.fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// A hash of any text.
pub(super) fn hash_of(text: &[u8]) -> u64 {
    let mut hash = text.len() as u64;
    for at in (0..text.len()).step_by(8) {
        hash = label_hash(hash, word(text, at), 8);
    }
    hash
}

impl Labels {
    /// Of a name with or without its final dot. `.` has none.
    pub(super) fn new(name: &[u8]) -> Self {
        let mut labels = Self {
            count: 0,
            prefixes: [0; MAX_LABELS + 1],
            ends: [0; MAX_LABELS],
            svc: None,
            is_long: false,
        };
        let name = name.strip_suffix(b".").unwrap_or(name);
        let mut at = 0;
        while at < name.len() && !labels.is_long {
            at = labels.label(name, at) + 1;
        }
        labels
    }

    /// Reads the label that begins at `start`; where it ends.
    fn label(&mut self, name: &[u8], start: usize) -> usize {
        let (mut at, mut hash) = (start, 0);
        loop {
            let bytes = word(name, at);
            let differs = bytes ^ DOTS;
            let dots = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
            let length = (dots.trailing_zeros() as usize / 8).min(name.len() - at);
            if length >= 8 {
                hash = label_hash(hash, bytes | SMALL, 8);
                at += 8;
                continue;
            }
            let mask = (1u64 << (8 * length)) - 1;
            hash = label_hash(hash, (bytes | SMALL) & mask, length);
            self.push(hash, at + length);
            return at + length;
        }
    }

    fn push(&mut self, hash: u64, end: usize) {
        let Some([before, after]) = self.prefixes.get_mut(self.count..self.count + 2) else {
            self.is_long = true;
            return;
        };
        *after = before.wrapping_mul(BASE).wrapping_add(hash);
        if hash == SVC {
            self.svc = Some(self.count);
        }
        if let Some(slot) = self.ends.get_mut(self.count) {
            *slot = u16::try_from(end).unwrap_or(u16::MAX);
        }
        self.count += 1;
    }

    /// The whole name.
    pub(super) fn hash(&self) -> u64 {
        self.prefix(self.count)
    }

    /// The first labels.
    pub(super) fn prefix(&self, labels: usize) -> u64 {
        self.prefixes.get(labels).copied().unwrap_or_default()
    }

    /// The last labels.
    pub(super) fn suffix(&self, labels: usize) -> Suffix {
        let before = self.count.saturating_sub(labels);
        let hash = self
            .hash()
            .wrapping_sub(self.prefix(before).wrapping_mul(power(labels)));
        Suffix { hash, labels }
    }

    /// What stands before `suffix`, if the name ends so and has more.
    pub(super) fn without(&self, suffix: Suffix) -> Option<u64> {
        let is_longer = self.count > suffix.labels;
        (is_longer && self.suffix(suffix.labels) == suffix)
            .then(|| self.prefix(self.count - suffix.labels))
    }

    /// The text of the first labels, without a final dot.
    pub(super) fn text<'n>(&self, name: &'n [u8], labels: usize) -> &'n [u8] {
        let end = labels.checked_sub(1).and_then(|it| self.ends.get(it));
        name.get(..end.map_or(0, |&it| usize::from(it)))
            .unwrap_or(name)
    }

    /// The text of the last labels.
    pub(super) fn last<'n>(&self, name: &'n [u8], labels: usize) -> &'n [u8] {
        let before = self.count.saturating_sub(labels);
        let start = before.checked_sub(1).and_then(|it| self.ends.get(it));
        let start = start.map_or(0, |&it| usize::from(it) + 1);
        name.get(start..).unwrap_or_default()
    }

    /// Of `NAME.NAMESPACE.svc.DOMAIN`: how many labels `DOMAIN` has. None but of
    /// a name that has all four.
    pub(super) fn cluster_domain(&self) -> Option<usize> {
        let svc = self.svc.filter(|&svc| svc > 0)?;
        Some(self.count - svc - 1).filter(|&labels| labels > 0)
    }
}

impl Suffix {
    /// The hash of a name with this suffix behind it.
    pub(super) fn behind(self, base: u64) -> u64 {
        base.wrapping_mul(power(self.labels))
            .wrapping_add(self.hash)
    }

    /// What stands between a base and a name that begins with it.
    pub(super) fn between(base: u64, whole: u64, labels: usize) -> Self {
        let hash = whole.wrapping_sub(base.wrapping_mul(power(labels)));
        Self { hash, labels }
    }

    /// What a name would have before this suffix, by its hash alone.
    pub(super) fn before(self, whole: u64) -> u64 {
        let inverse = INVERSES.get(self.labels).copied().unwrap_or_default();
        whole.wrapping_sub(self.hash).wrapping_mul(inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_search_domain_make_a_candidate() {
        let long = "a-label-of-more-than-sixteen-bytes.x";
        for base in ["web", "web.other", "api.example.com", long] {
            for search in ["cluster.local", "default.svc.cluster.local", "ec2.internal"] {
                let whole = Labels::new(format!("{base}.{search}.").as_bytes());
                let base = Labels::new(base.as_bytes());
                let suffix = whole.suffix(search.split('.').count());
                assert_eq!(suffix.hash, Labels::new(search.as_bytes()).hash());
                assert_eq!(whole.without(suffix), Some(base.hash()));
                assert_eq!(suffix.behind(base.hash()), whole.hash());
                assert_eq!(suffix.before(whole.hash()), base.hash());
            }
        }
    }

    #[test]
    fn names_that_differ_have_different_hashes() {
        let hash = |name: &str| Labels::new(name.as_bytes()).hash();
        assert_eq!(hash("WWW.Example.com."), hash("www.example.com"));
        let names = [
            "",
            "a",
            "b",
            "ab",
            "a.b",
            "b.a",
            "a.b.c",
            "ab.c",
            "a.bc",
            "aaaaaaaa",
            "aaaaaaaaa",
            "aaaaaaaa.a",
            "svc",
            "svd",
        ];
        for (at, one) in names.iter().enumerate() {
            for other in names.get(at + 1..).unwrap_or_default() {
                assert_ne!(hash(one), hash(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn texts_and_clusters_are_found() {
        let name = b"web.default.svc.cluster.local.";
        let labels = Labels::new(name);
        assert_eq!(labels.cluster_domain(), Some(2));
        assert_eq!(labels.text(name, 2), b"web.default");
        assert_eq!(labels.last(name, 2), b"cluster.local.");
        assert_eq!(Labels::new(b"svc.cluster.local.").cluster_domain(), None);
        assert_eq!(Labels::new(b"api.example.com.").cluster_domain(), None);
        assert_eq!(Labels::new(b".").count, 0);
        assert!(Labels::new("a.".repeat(60).as_bytes()).is_long);
    }
}
