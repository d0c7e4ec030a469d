//! Finds entries that can match the same model without comparing all pairs.
//!
//! In: entries of one scope. Out: every pair of runtimes that can match the same model. A large
//! group of equivalent runtimes is returned once as a group.
//!
//! # How cost grows
//! Entries are in buckets by architecture, and runtimes with equivalent entries form one kind.
//! Kinds are visited by minimum size and compared only with earlier kinds whose range has not
//! ended, so disjoint ranges are never compared. The cost grows with the number of pairs of kinds
//! that overlap in size; [`MOST_COMPARED`] limits it.

use crate::api::{Field, FormatEntry, NamedVersion, Runtime, Version};
use crate::policy::Policy;
use crate::select::entry::{overlap, share_protocol};
use ecow::EcoString;
use indexmap::IndexMap;
use std::collections::{BTreeMap, HashSet};

/// Maximum number of comparisons of kinds in one group.
const MOST_COMPARED: usize = 4_000_000;
/// A meeting costs as much as so many comparisons: pairs that met are remembered.
const COST_OF_MEETING: usize = 10;
/// Maximum number of runtime pairs of two kinds that are visited separately; beyond it, the kinds
/// are visited as groups.
const MOST_OF_KINDS: usize = 100;

/// One entry that automatic selection evaluates.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) entry: &'a FormatEntry,
    /// Minimum and maximum size in parameters; open bounds are infinite.
    pub(crate) range: (f64, f64),
}

/// Runtimes that can match the same model.
pub(crate) enum Meeting<'m, 'a> {
    /// Two runtimes.
    Pair(Candidate<'a>, Candidate<'a>),
    /// Every pair across two kinds. When both slices are the same kind, every pair within it.
    Groups(&'m [Candidate<'a>], &'m [Candidate<'a>]),
}

impl<'a> Meeting<'_, 'a> {
    /// Returns one pair of runtimes as an example.
    pub(crate) fn pair(&self) -> (Candidate<'a>, Candidate<'a>) {
        match self {
            Self::Pair(a, b) => (*a, *b),
            Self::Groups(first, second) if std::ptr::eq(*first, *second) => (first[0], first[1]),
            Self::Groups(first, second) => (first[0], second[0]),
        }
    }
}

/// Whether the search was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meetings {
    /// All pairs were compared.
    All,
    /// The search stopped at [`MOST_COMPARED`].
    TooMany,
}

/// The requirements of an entry, for comparison.
#[derive(PartialEq, Eq, Hash)]
struct Asked<'a> {
    texts: [Option<&'a str>; 8],
    versions: [Option<&'a str>; 3],
    /// Address of the entry if it has a diffusion pipeline, so that it equals no other entry; else
    /// 0.
    alone: usize,
}

impl<'a> Asked<'a> {
    fn of(entry: &'a FormatEntry) -> Self {
        fn text(field: Option<&Field<EcoString>>) -> Option<&str> {
            field.map(|field| field.value.as_str())
        }
        fn version(field: Option<&Field<Version>>) -> Option<&str> {
            field.map(|field| field.value.text())
        }
        fn name(side: Option<&NamedVersion>) -> Option<&str> {
            side.map(|side| side.name.value.as_str())
        }
        let operator =
            |side: Option<&'a NamedVersion>| text(side.and_then(|side| side.operator.as_ref()));
        let (format, framework) = (entry.format.as_ref(), entry.framework.as_ref());
        Self {
            texts: [
                name(format),
                operator(format),
                name(framework),
                operator(framework),
                text(entry.legacy_name.as_ref()),
                text(entry.architecture.as_ref()),
                text(entry.quantization.as_ref()),
                // A format without a name differs from no format.
                format.map(|_| ""),
            ],
            versions: [
                version(format.and_then(|format| format.version.as_ref())),
                version(framework.and_then(|framework| framework.version.as_ref())),
                version(entry.legacy_version.as_ref()),
            ],
            alone: entry.diffusion.as_ref().map_or(0, |_| std::ptr::from_ref(entry) as usize),
        }
    }
}

/// The values that must be equal for two runtimes to overlap with the same other runtimes.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Likeness<'a> {
    range: (u64, u64),
    several: bool,
    protocols: Vec<&'a str>,
    requests: Vec<Asked<'a>>,
}

impl<'a> Likeness<'a> {
    pub(crate) fn of(
        runtime: &'a Runtime,
        range: (f64, f64),
        entries: impl IntoIterator<Item = &'a FormatEntry>,
    ) -> Self {
        Self {
            // As bits, because floats have neither `Eq` nor `Hash`.
            range: (range.0.to_bits(), range.1.to_bits()),
            several: runtime.multi_model.as_ref().is_some_and(|multi| multi.value),
            protocols: runtime.protocols.iter().map(|protocol| protocol.value.as_str()).collect(),
            requests: entries.into_iter().map(Asked::of).collect(),
        }
    }
}

/// The entries of one runtime.
struct Side<'a>(Vec<Candidate<'a>>);

impl<'a> Side<'a> {
    fn range(&self) -> (f64, f64) {
        self.0[0].range
    }

    fn runtime(&self) -> &'a Runtime {
        self.0[0].runtime
    }

    /// Returns the address of the runtime in the catalog, as its key.
    fn address(&self) -> usize {
        std::ptr::from_ref(self.runtime()) as usize
    }

    /// Returns the indexes of the first two entries that overlap.
    fn first(&self, other: &Self, policy: &Policy) -> Option<(usize, usize)> {
        self.0.iter().enumerate().find_map(|(left, candidate)| {
            let right =
                other.0.iter().position(|entry| overlap(policy, candidate.entry, entry.entry))?;
            Some((left, right))
        })
    }
}

/// Runtimes with equivalent entries.
struct Kind<'a>(Vec<Side<'a>>);

impl<'a> Kind<'a> {
    fn range(&self) -> (f64, f64) {
        self.0[0].range()
    }

    fn entries(&self, at: usize) -> Vec<Candidate<'a>> {
        self.0.iter().map(|side| side.0[at]).collect()
    }
}

/// Returns the kinds, ordered by minimum size; leaves out empty ranges.
fn kinds<'a>(candidates: &[Candidate<'a>]) -> Vec<Kind<'a>> {
    let mut sides: IndexMap<usize, Side<'a>> = IndexMap::new();
    for candidate in candidates.iter().filter(|one| one.range.0 <= one.range.1) {
        let address = std::ptr::from_ref(candidate.runtime) as usize;
        sides.entry(address).or_insert_with(|| Side(Vec::new())).0.push(*candidate);
    }
    let mut kinds: IndexMap<_, Kind<'a>> = IndexMap::new();
    for side in sides.into_values() {
        let entries = side.0.iter().map(|one| one.entry);
        let likeness = Likeness::of(side.runtime(), side.range(), entries);
        kinds.entry(likeness).or_insert_with(|| Kind(Vec::new())).0.push(side);
    }
    let mut kinds: Vec<Kind<'a>> = kinds.into_values().collect();
    // Later loops stand on this order: ranges that ended before are never looked at again.
    kinds.sort_by(|a, b| a.range().0.total_cmp(&b.range().0));
    kinds
}

/// Calls `visit` once for every pair of runtimes that can match the same model, or once for a large
/// group.
pub(crate) fn each_meeting<'a>(
    policy: &Policy,
    group: &[Candidate<'a>],
    visit: impl FnMut(Meeting<'_, 'a>),
) -> Meetings {
    let mut by_architecture: BTreeMap<Option<&str>, Vec<Candidate<'a>>> = BTreeMap::new();
    for candidate in group {
        let architecture = candidate.entry.architecture.as_ref();
        by_architecture
            .entry(architecture.map(|architecture| architecture.value.as_str()))
            .or_default()
            .push(*candidate);
    }
    // Entries without an architecture match those of every bucket.
    let any = kinds(&by_architecture.remove(&None).unwrap_or_default());
    let mut meet =
        Meet { policy, visit, met: HashSet::new(), reported: HashSet::new(), left: MOST_COMPARED };
    for bucket in by_architecture.into_values() {
        let exact = kinds(&bucket);
        meet.among(&exact);
        for kind in &exact {
            // Sorted by their beginnings: those behind begin after this range ends.
            let upto = any.partition_point(|other| other.range().0 <= kind.range().1);
            for other in any[..upto].iter().filter(|other| other.range().1 >= kind.range().0) {
                meet.two(kind, other);
            }
        }
    }
    meet.among(&any);
    if meet.left == 0 { Meetings::TooMany } else { Meetings::All }
}

struct Meet<'p, F> {
    policy: &'p Policy,
    visit: F,
    /// Visited pairs of runtimes, by address.
    met: HashSet<(usize, usize)>,
    /// Visited groups, by the addresses of their first members and their sizes.
    reported: HashSet<[(usize, usize); 2]>,
    /// Remaining number of comparisons.
    left: usize,
}

impl<'a, F: FnMut(Meeting<'_, 'a>)> Meet<'_, F> {
    /// Compares kinds with each other; `all` is ordered by minimum size.
    fn among(&mut self, all: &[Kind<'a>]) {
        let mut open: Vec<&Kind<'a>> = Vec::new();
        for current in all {
            // Kinds come by their beginnings, so that a range that has ended meets none of the
            // later ones.
            open.retain(|kind| kind.range().1 >= current.range().0);
            for other in &open {
                self.two(other, current);
            }
            // Runtimes of one kind meet each other.
            if current.0.len() > 1 {
                self.two(current, current);
            }
            open.push(current);
        }
    }

    fn two(&mut self, a: &Kind<'a>, b: &Kind<'a>) {
        self.left = self.left.saturating_sub(1);
        // All runtimes of a kind are alike in what is compared: one of each stands for them.
        let (first, second) = (&a.0[0], &b.0[0]);
        if self.left == 0 || !share_protocol(self.policy, first.runtime(), second.runtime()) {
            return;
        }
        let Some((left, right)) = first.first(second, self.policy) else { return };
        self.left = self.left.saturating_sub(COST_OF_MEETING - 1);
        if a.0.len().saturating_mul(b.0.len()) > MOST_OF_KINDS {
            let of = |kind: &Kind<'_>| (kind.0[0].address(), kind.0.len());
            if self.reported.insert([of(a), of(b)]) {
                let first = a.entries(left);
                if std::ptr::eq(a, b) {
                    (self.visit)(Meeting::Groups(&first, &first));
                } else {
                    (self.visit)(Meeting::Groups(&first, &b.entries(right)));
                }
            }
            return;
        }
        for (index, side) in a.0.iter().enumerate() {
            // Within one kind, visits each pair once and no runtime with itself.
            let from = if std::ptr::eq(a, b) { index + 1 } else { 0 };
            for other in &b.0[from..] {
                let (own_at, other_at) = (side.address(), other.address());
                let pair = (own_at.min(other_at), own_at.max(other_at));
                if own_at != other_at && self.met.insert(pair) {
                    (self.visit)(Meeting::Pair(side.0[left], other.0[right]));
                }
            }
        }
    }
}
