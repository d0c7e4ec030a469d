//! Definitions of one name in several directories below a path: overlays, clouds, versions,
//! examples.
//!
//! In: every definition with its place. Out: one definition of each name for the catalog, and views:
//! the catalogs of services that see other definitions, because theirs are nearer. A service uses
//! the objects of its own directory, then those of the directories above it, then others. It sees no
//! object that is nearer to another definition of the same service.

use super::Catalog;
use super::item::Item;
use crate::api::{Api, Object, ObjectRef};
use crate::diag::{Code, Diagnostic};
use crate::source::{self, Source, Span, is_aside};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// How far a definition is from one that is applied as it stands: of several in one directory the one
/// that is nearest to it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It is applied as it stands.
    #[default]
    Applied,
    /// A Template makes it.
    OfTemplate,
    /// Values are filled in first.
    Unfilled,
}

/// Where an object was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The directory of the command line above it; none of a file that was named, and of what is
    /// built.
    root: Option<Arc<str>>,
    /// The directory below it, `./` for the directory itself.
    directory: String,
    pub(super) standing: Standing,
}

impl Place {
    /// The place of an object in a text.
    pub fn of(source: &Source) -> Self {
        let directory = source.directory();
        // A file that was named has no directory of variants around it.
        let root = source.root.clone().filter(|_| directory.is_some());
        let standing = Standing::Applied;
        Self { root, directory: directory.unwrap_or_default(), standing }
    }

    /// Whether it is below a directory of the command line.
    pub fn is_in_tree(&self) -> bool {
        self.root.is_some()
    }

    /// The same with another standing.
    pub fn standing(self, standing: Standing) -> Self {
        Self { standing, ..self }
    }

    /// Whether two places are different directories below one path.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        self.is_below_same_path(other) && self.directory != other.directory
    }

    /// Whether two places are below one path of the command line.
    pub(super) fn is_below_same_path(&self, other: &Self) -> bool {
        self.root.is_some() && self.root == other.root
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.directory.split('/').filter(|part| !part.is_empty() && *part != ".")
    }

    fn rank(&self, at: usize) -> Rank {
        (is_aside(&self.directory), self.standing, at)
    }

    /// The directories that hold it, its own first, up to that of the command line, which is empty.
    fn directories(&self) -> Vec<(Option<&str>, String)> {
        let root = self.root.as_deref();
        // The empty path is the directory of the command line itself.
        let mut all = vec![(root, String::new())];
        for part in self.parts() {
            let above = all.last().map_or("", |(_, path)| path.as_str());
            let path = if above.is_empty() { part.to_owned() } else { format!("{above}/{part}") };
            all.push((root, path));
        }
        all.reverse();
        all
    }
}

/// Which of several definitions of one object counts for the whole input: of those below the path
/// that was named last, that of `--in`, else the first directory by path that is none of tests; of
/// several in one directory the last, as kubectl applies them.
pub fn preferred(places: &[Place], within: Option<&str>) -> Option<usize> {
    let last = places.last()?;
    // Files that are named are applied in their order: the last one counts.
    if last.root.is_none() {
        return Some(places.len() - 1);
    }
    let same = || (0..places.len()).filter(|at| places[*at].is_below_same_path(last));
    let place = within.zip(last.root.as_ref()).map(|(within, root)| place_within(within, root));
    let mut directories = Directories::default();
    let from = place.as_ref().map(|place| directories.of(place)).unwrap_or_default();
    let existing: Vec<(Rank, Vec<usize>)> =
        same().map(|at| (places[at].rank(at), directories.of(&places[at]))).collect();
    let by_key = existing.iter().map(|(rank, held)| (*rank, held.as_slice()));
    let first = Definitions::of(by_key).nearest(&from);
    // Of several in the chosen directory the last, as kubectl applies them in turn.
    same().rfind(|at| places[*at].directory == places[first].directory)
}

/// The place of `--in DIR`.
fn place_within(requested: &str, root: &Arc<str>) -> Place {
    let below = source::below_root(requested, root);
    let (root, directory) = (Some(Arc::clone(root)), format!("{below}/"));
    Place { root, directory, ..Place::default() }
}

/// Directories by number, so that places are compared without their texts.
#[derive(Default)]
struct Directories<'p> {
    numbers: HashMap<(Option<&'p str>, String), usize>,
}

impl<'p> Directories<'p> {
    /// The directories that hold a place, its own first.
    fn of(&mut self, place: &'p Place) -> Vec<usize> {
        let number = |directory| {
            let next = self.numbers.len();
            *self.numbers.entry(directory).or_insert(next)
        };
        place.directories().into_iter().map(number).collect()
    }
}

/// A definition: copies for tests come after others, then count its standing and what was read first.
type Rank = (bool, Standing, usize);

/// The definitions of a name by the directories that hold them.
#[derive(Default)]
struct Definitions {
    /// The first one in a directory.
    within: HashMap<usize, Rank>,
    /// The first one in a directory and everything below it.
    beneath: HashMap<usize, Rank>,
    first: Option<Rank>,
}

impl Definitions {
    fn of<'d>(definitions: impl IntoIterator<Item = (Rank, &'d [usize])>) -> Self {
        let mut all = Self::default();
        for (rank, directories) in definitions {
            let keep = |best: &mut Rank| *best = rank.min(*best);
            if let Some(directories) = directories.first() {
                all.within.entry(*directories).and_modify(keep).or_insert(rank);
            }
            for directory in directories {
                all.beneath.entry(*directory).and_modify(keep).or_insert(rank);
            }
            all.first = Some(all.first.map_or(rank, |first| first.min(rank)));
        }
        all
    }

    /// The nearest one to a place: in its own directory or one above it, the lowest first, then by
    /// the directories that they have in common.
    fn nearest(&self, directories: &[usize]) -> usize {
        let above = directories.iter().find_map(|directory| self.within.get(directory));
        let below = || {
            // Everything is below the directory of the command line, and beside it.
            let (_, directories) = directories.split_last()?;
            directories.iter().find_map(|directory| self.beneath.get(directory))
        };
        above.or_else(below).or(self.first.as_ref()).map_or(0, |(.., at)| *at)
    }
}

/// A catalog that some services see instead of the catalog of the input.
#[derive(Debug)]
pub struct View {
    /// What they see; its services are theirs.
    pub catalog: Catalog,
    /// Where the services are named that are not in the catalog of the input.
    pub(super) added: BTreeSet<Span>,
}

impl View {
    /// Whether a service, by the place of its name, is a further definition: it is shown and not
    /// counted.
    pub fn adds(&self, name: Span) -> bool {
        self.added.contains(&name)
    }
}

/// What makes two objects one. Of kinds that several groups have, such as Job, Service and
/// InferencePool, it is the group too.
pub(super) type Key = (Api, EcoString, ObjectRef);

pub(super) fn key(object: &Object) -> Key {
    // All objects of an operator are of its group.
    let group = if object.api.is_of_operator() { "" } else { object.group() };
    (object.api, group.into(), object.id.clone())
}

/// Every definition that was read.
pub(super) struct Known<'a> {
    pub(super) items: &'a [Item],
    pub(super) places: &'a [Place],
    /// Further places of equal objects, by the item that stands for them.
    pub(super) equals: &'a HashMap<usize, Vec<Place>>,
    pub(super) index: &'a HashMap<Key, Vec<usize>>,
    /// The directory of `--in`.
    pub(super) within: Option<&'a str>,
}

/// Services that see the same.
pub(super) struct Group {
    pub(super) items: Vec<usize>,
    pub(super) added: BTreeSet<Span>,
}

/// The directories of a place without that of the command line.
fn below_root(directories: &[usize]) -> &[usize] {
    directories.split_last().map_or(&[], |(_, below)| below)
}

/// More views than this are not made; further services see what the input has first.
const MOST_VIEWS: usize = 64;

/// Above this many comparisons of places none is made.
const MOST_COMPARED: usize = 4_000_000;

/// The objects that one service sees: its picks of names with several definitions, and what is left
/// out.
type Seen = (Vec<usize>, BTreeSet<usize>);

impl Known<'_> {
    /// One definition of each name: that of `--in`, else the first by path that is no copy for
    /// tests.
    pub(super) fn chosen(&self) -> Vec<usize> {
        let within = self.within_place();
        let mut directories = Directories::default();
        let from = within.as_ref().map(|place| directories.of(place));
        let mut nearest = |other: &[usize]| {
            let existing: Vec<(Rank, Vec<usize>)> = other
                .iter()
                .flat_map(|at| self.places_of(*at).map(|place| (place.rank(*at), place)))
                .map(|(rank, place)| (rank, directories.of(place)))
                .collect();
            let by_key = existing.iter().map(|(rank, held)| (*rank, held.as_slice()));
            Definitions::of(by_key).nearest(from.as_deref().unwrap_or_default())
        };
        // Most names have one definition, for which no directory is compared.
        let choose = |other: &Vec<usize>| match other.as_slice() {
            [only] => *only,
            several => nearest(several),
        };
        let mut chosen: Vec<usize> = self.index.values().map(choose).collect();
        // The index is a hash map, whose order must not reach the answer.
        chosen.sort_unstable();
        chosen
    }

    /// The place of `--in`.
    fn within_place(&self) -> Option<Place> {
        let root = self.places.iter().find_map(|place| place.root.as_ref())?;
        Some(place_within(self.within?, root))
    }

    /// The places of an item: its own, and those of objects that equal it.
    fn places_of(&self, at: usize) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.places[at]).chain(self.equals.get(&at).into_iter().flatten())
    }

    /// Names with several definitions that decide about services.
    fn conflicts(&self) -> Vec<&Vec<usize>> {
        let decides = |at: usize| match &self.items[at] {
            Item::Model(_) | Item::Runtime(_) | Item::Weight(_) | Item::AcceleratorClass(_) => true,
            Item::Other(object) => matches!(
                object.id.kind.as_str(),
                "ConfigMap"
                    | "Secret"
                    | "ServiceAccount"
                    | "HardwareProfile"
                    | "ClusterStorageContainer"
                    | "LLMInferenceServiceConfig"
            ),
            _ => false,
        };
        let several = self.index.values().filter(|index| index.len() > 1 && decides(index[0]));
        let mut conflicts: Vec<&Vec<usize>> = several.collect();
        conflicts.sort_unstable();
        conflicts
    }

    fn is_service(&self, at: usize) -> bool {
        matches!(self.items[at], Item::Service(_) | Item::ModelServing(_))
    }

    /// The groups of services that see other objects than the chosen ones.
    pub(super) fn groups(&self, chosen: &[usize]) -> Vec<Group> {
        // With `--in` the user has chosen: every service sees the same.
        if chosen.len() == self.items.len() || self.within.is_some() {
            return Vec::new();
        }
        let conflicts = self.conflicts();
        let chosen: HashSet<usize> = chosen.iter().copied().collect();
        let usual: Vec<usize> = conflicts
            .iter()
            .map(|conflict| {
                conflict.iter().find(|at| chosen.contains(at)).copied().unwrap_or_default()
            })
            .collect();
        let mut seen: BTreeMap<Seen, Vec<usize>> = BTreeMap::new();
        let mut directories = Directories::default();
        let held: Vec<Vec<usize>> = self.places.iter().map(|place| directories.of(place)).collect();
        let equals: HashMap<usize, Vec<Vec<usize>>> = self
            .equals
            .iter()
            .map(|(at, places)| (*at, places.iter().map(|place| directories.of(place)).collect()))
            .collect();
        // The directories of every place of an item.
        let all_held = |at: usize| {
            let equals = equals.get(&at).into_iter().flatten();
            std::iter::once(&held[at]).chain(equals).map(Vec::as_slice)
        };
        let ranked = |at: usize| {
            let ranks = self.places_of(at).map(move |place| place.rank(at));
            ranks.zip(all_held(at)).collect::<Vec<_>>()
        };
        let definitions: Vec<Definitions> = conflicts
            .iter()
            .map(|conflict| Definitions::of(conflict.iter().flat_map(|at| ranked(*at))))
            .collect();
        let mut compared = 0;
        let mut keys: Vec<&Vec<usize>> =
            self.index.values().filter(|index| self.is_service(index[0])).collect();
        keys.sort_unstable();
        let single: Vec<usize> = (0..self.items.len())
            .filter(|at| matches!(self.items[*at], Item::Runtime(_) | Item::Model(_)))
            .collect();
        for existing in keys {
            // Directories that hold one of several definitions, but for that of the command line.
            let theirs: HashSet<usize> = match existing.len() {
                1 => HashSet::new(),
                _ => existing.iter().flat_map(|at| below_root(&held[*at])).copied().collect(),
            };
            for at in existing {
                // The cost is counted before it is paid: a tree with too many places gets no
                // further views.
                compared += conflicts.len() + if existing.len() > 1 { single.len() } else { 0 };
                if compared > MOST_COMPARED {
                    continue;
                }
                let count = &held[*at];
                let picks: Vec<usize> =
                    definitions.iter().map(|definitions| definitions.nearest(count)).collect();
                // What is nearer to another definition lies in a directory that holds that one and
                // not this one.
                let is_theirs = |other: &usize| {
                    self.places[*other].root.is_some()
                        && all_held(*other).all(|held| {
                            let mut held = below_root(held).iter();
                            held.any(|own_of| theirs.contains(own_of) && !count.contains(own_of))
                        })
                };
                let left_out: BTreeSet<usize> = if theirs.is_empty() {
                    BTreeSet::new()
                } else {
                    single.iter().copied().filter(is_theirs).collect()
                };
                let is_usual = picks == usual && left_out.is_empty() && chosen.contains(at);
                if is_usual {
                    continue;
                }
                let key = (picks, left_out);
                let is_full = seen.len() >= MOST_VIEWS && !seen.contains_key(&key);
                let key = if is_full { (usual.clone(), BTreeSet::new()) } else { key };
                seen.entry(key).or_default().push(*at);
            }
        }
        let group = |((picks, left_out), services): (Seen, Vec<usize>)| {
            let varying: HashSet<usize> = conflicts.iter().copied().flatten().copied().collect();
            let mut items: Vec<usize> = chosen
                .iter()
                .copied()
                .filter(|at| !self.is_service(*at))
                .filter(|at| !varying.contains(at) && !left_out.contains(at))
                .chain(picks.into_iter().filter(|at| !left_out.contains(at)))
                .chain(services.iter().copied())
                .collect();
            // In the order of the input, in which later definitions count.
            items.sort_unstable();
            let added = services.iter().filter(|at| !chosen.contains(at));
            let added = added.map(|at| self.items[*at].object().name_span()).collect();
            Group { items, added }
        };
        seen.into_iter().map(group).collect()
    }

    /// The note that names have definitions in several directories.
    pub(super) fn finding(&self) -> Option<Diagnostic> {
        // Two in one directory are a duplicate, which has a finding of its own.
        let is_apart = |other: &[usize]| {
            let mut places = other.iter().map(|at| &self.places[*at]);
            places.any(|place| place.is_beside(&self.places[other[0]]))
        };
        let several = self
            .index
            .values()
            .filter(|index| is_apart(index) && !matches!(self.items[index[0]], Item::Other(_)));
        let mut several: Vec<&Vec<usize>> = several.collect();
        several.sort_unstable();
        let first = self.items[*several.first()?.first()?].object();
        let directories: BTreeSet<&str> =
            several[0].iter().map(|at| self.places[*at].directory.as_str()).collect();
        let places = directories.into_iter().collect::<Vec<_>>().join(", ");
        let message = match several.len() {
            1 => format!("{} has a definition in each of {places}", first.id),
            many => format!(
                "{many} objects have definitions in several directories, such as {} in {places}",
                first.id
            ),
        };
        Some(Diagnostic::new(Code::Variants, message).at(first.name_span()).help(
            "each service is planned with the objects nearest to it; `--in DIR` selects the definitions of a directory",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, place_within, preferred};
    use std::sync::Arc;

    fn places(directories: &[&str]) -> Vec<Place> {
        let root: Arc<str> = "deploy".into();
        directories.iter().map(|directory| place_within(directory, &root)).collect()
    }

    #[test]
    fn of_one_directory_the_last_definition_counts_and_of_several_the_first_directory() {
        for (directories, within, counts) in [
            (&["a", "a", "a"][..], None, 2),
            (&["a", "b", "a", "b"], None, 2),
            (&["a", "b", "a", "b"], Some("b"), 3),
            (&["a/tests", "b", "a/tests"], None, 1),
            (&[], None, usize::MAX),
        ] {
            let found = preferred(&places(directories), within);
            assert_eq!(found.unwrap_or(usize::MAX), counts, "{directories:?} {within:?}");
        }
        // A file that was named is in no directory: it is read last and counts.
        let named = [places(&["a", "a"]), vec![Place::default()]].concat();
        assert_eq!(preferred(&named, None), Some(2));
    }
}
