//! Finds the machines of a mark without looking at all of them: there may be a mark for each machine.

use super::group::Group;
use crate::cluster::Machine;
use crate::cluster::sighting::Mark;
use ecow::EcoString;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Machines, as positions, by what marks them.
pub(super) struct Index<'m> {
    machines: &'m [Machine],
    names: HashMap<&'m str, Vec<usize>>,
    keys: HashMap<EcoString, Vec<usize>>,
    labels: HashMap<(EcoString, &'m str), Vec<usize>>,
    groups: HashSet<EcoString>,
}

impl<'m> Index<'m> {
    /// Only labels that mark a machine of a group are in it.
    pub(super) fn new(machines: &'m [Machine], groups: &[Group<'_>]) -> Self {
        let mut index = Self {
            machines,
            names: HashMap::new(),
            keys: HashMap::new(),
            labels: HashMap::new(),
            groups: groups.iter().map(|group| group.name.clone()).collect(),
        };
        let sightings = groups.iter().flat_map(|group| &group.sightings);
        // Nodes have dozens of labels: only the keys that some mark uses are worth an index.
        let marks: HashSet<EcoString> =
            sightings.flat_map(|sighting| sighting.mark.keys()).collect();
        for (at, machine) in machines.iter().enumerate() {
            index.names.entry(&machine.name).or_default().push(at);
            for key in marks.iter().filter(|key| machine.labels.contains_key(key)) {
                index.keys.entry(key.clone()).or_default().push(at);
                if let Some(value) = machine.label(key) {
                    index.labels.entry((key.clone(), value)).or_default().push(at);
                }
            }
        }
        index
    }

    /// Whether a group has this name.
    pub(super) fn names_group(&self, name: &str) -> bool {
        self.groups.contains(name)
    }

    /// The machines that have one of the marks, in their order.
    pub(super) fn marked(&self, marks: &BTreeSet<&Mark>) -> Vec<&'m Machine> {
        let found: BTreeSet<usize> = marks
            .iter()
            .flat_map(|mark| {
                let near = self.near(mark).iter().copied();
                // The index knows one label of a mark; the others still have to be compared.
                near.filter(|at| mark.is_on(&self.machines[*at]))
            })
            .collect();
        // Positions come sorted out of the set, which is the order of the machines.
        found.into_iter().map(|at| &self.machines[at]).collect()
    }

    /// Machines among which are all that have a mark: of several labels, those of the rarest.
    fn near<'a>(&'a self, mark: &'a Mark) -> &'a [usize] {
        let found = match mark {
            Mark::Name(name) => self.names.get(name.as_str()),
            Mark::Exists(key) => self.keys.get(key),
            Mark::Labels(labels) => labels
                .iter()
                .filter_map(|(key, value)| self.labels.get(&(key.clone(), value.as_str())))
                // A label that no machine has is not in the map. It is skipped here, and `is_on`
                // refuses the rest.
                .min_by_key(|label| label.len()),
        };
        found.map(Vec::as_slice).unwrap_or_default()
    }
}
