//! Discovers AcceleratorClasses from nodes: the proposed classes, the actions on existing classes,
//! and the evidence.
//!
//! In: the catalog, or a file of Helm values. Out: one proposal per class with the evidence for
//! each value, the machines without accelerators, and findings. Only AcceleratorClasses are made
//! (OEP-0003, Non-Goals). Built-in classes are a catalog and not part of the cluster: they are
//! neither listed nor used for a product.

mod group;
mod index;
mod input_classes;
mod slices;
mod status;
#[cfg(test)]
mod tests;
mod tiers;
mod values;

pub use status::Status;

use super::class::{Action, Change, Draft, Fact, is_auto_discovered};
use crate::api::{AcceleratorClass, Semantics};
use crate::catalog::Catalog;
use crate::cluster as machines;
use crate::cluster::sighting::{Mark, Sighting};
use crate::cluster::{Machine, Shape, class_matches};
use crate::diag::{Checked, Code, Diagnostic};
use crate::operators::kueue::read::FLAVOR_OF_CLASS;
use crate::source::{SourceMap, Span};
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;
use group::Group;
use index::Index;
use slices::Slices;
use std::collections::{BTreeMap, BTreeSet};

/// Options of a discovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Memory is the size on labels, not the size as sold (OEP-0003, Kueue Integration;
    /// docs/decisions.md#discovery).
    pub measured: bool,
    /// Bounds of memory are compared with sizes as sold (OEP-0003, Platform-Provided Base Set).
    pub nominal_memory: bool,
    /// The mode that determines the format in which classes are read and written.
    pub semantics: Semantics,
}

/// The proposal for one class.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Its name.
    pub name: EcoString,
    /// The action.
    pub action: Action,
    /// The class after the action.
    pub object: Node,
    /// Machines that belong to it, by name.
    pub nodes: Vec<EcoString>,
    /// Every discovered value with its evidence; empty for a class that is kept.
    pub facts: Vec<Fact>,
    /// What an update changes.
    pub changes: Vec<Change>,
    /// Devices: total and free.
    pub status: Status,
    /// Location of the class, if it was read.
    pub written: Option<Span>,
}

/// A machine without a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name.
    pub node: EcoString,
    /// The reason as a code.
    pub reason: &'static str,
}

/// The result for a product.
enum Outcome<'a> {
    /// A class of its own.
    Proposed(Box<Proposal>),
    /// A class with another name, which may also be the class of other products.
    Followed(Followed<'a>),
}

/// One product of a class that follows its nodes under another name.
struct Followed<'a> {
    class: &'a AcceleratorClass,
    /// The product, for messages.
    word: EcoString,
    draft: Draft,
}

/// The result of a discovery.
#[derive(Clone, Debug, Default)]
pub struct Discovered {
    /// Classes by name.
    pub classes: Vec<Proposal>,
    /// Machines without accelerators, by name.
    pub skipped: Vec<Skipped>,
    /// Machines with accelerators that match no tier, by name; empty if there are no tiers.
    pub no_tier: Vec<EcoString>,
}

/// The machine has no accelerator.
const NO_ACCELERATOR: &str = "no-accelerator";

/// Facts about accelerators from the labels of machines, independent of the name and selector of a
/// class; empty if the machines have no accelerator or several kinds.
pub(super) fn described(machines: &[Machine]) -> Vec<Fact> {
    let groups = group::groups(machines, &Slices::default());
    // Two kinds of devices have no common description.
    let [group] = groups.as_slice() else { return Vec::new() };
    // Anomalies of the machines are reported by discovery.
    let draft = group.draft(false, &mut Vec::new());
    let is_wanted = |fact: &Fact| {
        let path = fact.path.to_string();
        path.starts_with("spec.") && !path.starts_with("spec.discovery")
    };
    draft.facts.into_iter().filter(is_wanted).collect()
}

/// The context of all proposals.
struct World<'a> {
    options: Options,
    sources: &'a SourceMap,
    /// The user's classes by name.
    classes: Vec<&'a AcceleratorClass>,
    /// Machines with the sizes on their labels.
    machines: &'a [Machine],
    /// Machines with the sizes that classes are compared with.
    compared: Vec<Machine>,
    /// Pods by machine.
    used: BTreeMap<EcoString, Vec<Shape>>,
    /// Devices in ResourceSlices.
    slices: Slices,
}

impl<'a> World<'a> {
    fn new(catalog: &'a Catalog, sources: &'a SourceMap, options: Options) -> Self {
        let machines = catalog.machines();
        let compared = machines
            .iter()
            .map(|machine| {
                // Two lists at the same positions: classes are compared with one, nodes are
                // reported from the other.
                if options.nominal_memory { tiers::as_sold(machine) } else { machine.clone() }
            })
            .collect();
        let classes =
            catalog.classes_by(options.semantics).filter(|class| !class.object.builtin).collect();
        let mut used: BTreeMap<EcoString, Vec<Shape>> = BTreeMap::new();
        for (machine, shape) in machines::running(catalog.others()) {
            used.entry(machine).or_default().push(shape);
        }
        let slices = Slices::read(catalog.others());
        Self { options, sources, classes, machines, compared, used, slices }
    }

    /// Machines of a class, by name.
    fn members(&self, class: &AcceleratorClass) -> Vec<&Machine> {
        self.machines
            .iter()
            .zip(&self.compared)
            .filter(|(_, compared)| class_matches(class, compared))
            .map(|(machine, _)| machine)
            .collect()
    }

    fn proposal(
        &self,
        name: &EcoString,
        action: Action,
        object: Node,
        members: &[&Machine],
    ) -> Proposal {
        let resources = object.at(&["spec", "resources"]).map(Node::items).unwrap_or_default();
        let whole = resources
            .iter()
            // A divisible resource, such as memory of a device, is no count of devices.
            .filter(|resource| !resource.get("divisible").and_then(Node::as_bool).unwrap_or(false));
        let names: Vec<EcoString> =
            whole.filter_map(|resource| resource.get("name")?.scalar_text()).collect();
        Proposal {
            name: name.clone(),
            action,
            status: status::status(members, &names, &self.used, &self.slices),
            object,
            nodes: members.iter().map(|machine| machine.name.clone()).collect(),
            facts: Vec::new(),
            changes: Vec::new(),
            written: None,
        }
    }

    /// A class that is not changed.
    fn as_written(&self, class: &AcceleratorClass, action: Action) -> Proposal {
        let mut object = class.object.node.clone();
        // A status is written by the operator and not part of what would be applied.
        object.set(&FieldPath::root().field("status").0, None);
        Proposal {
            written: Some(class.object.span),
            ..self.proposal(class.name(), action, object, &self.members(class))
        }
    }

    /// A class that does not exist yet.
    fn created(&self, draft: Draft, members: &[&Machine]) -> Proposal {
        let object = draft.object(self.options.semantics);
        Proposal {
            facts: draft.facts,
            ..self.proposal(&draft.name, Action::Create, object, members)
        }
    }

    /// A class that follows its draft. A value that only comes from tables of this tool and is not
    /// set in the class is no difference: it is known without being set.
    fn followed(
        &self,
        class: &AcceleratorClass,
        draft: Draft,
        members: Option<&[&Machine]>,
    ) -> Proposal {
        let observed = |change: &Change| {
            draft.facts.iter().any(|fact| fact.path == change.path && fact.evidence.is_observed())
        };
        let changes: Vec<Change> = draft
            .changes(&class.object.node)
            .into_iter()
            .filter(|change| change.from.is_some() || observed(change))
            .collect();
        if changes.is_empty() {
            return Proposal { facts: draft.facts, ..self.as_written(class, Action::Unchanged) };
        }
        // When the class is written anyway, values from tables are filled in, too.
        let changes = draft.changes(&class.object.node);
        let object = draft.over(&class.object.node, self.options.semantics);
        let nodes = self.members(class);
        let proposal =
            self.proposal(class.name(), Action::Update, object, members.unwrap_or(&nodes));
        Proposal { facts: draft.facts, changes, written: Some(class.object.span), ..proposal }
    }
}

/// Classes of the machines of a catalog.
pub fn discover(catalog: &Catalog, sources: &SourceMap, options: Options) -> Checked<Discovered> {
    let world = World::new(catalog, sources, options);
    let mut found = Vec::new();
    let mut classes: BTreeMap<EcoString, Proposal> = BTreeMap::new();
    let groups = group::groups(world.machines, &world.slices);
    let index = Index::new(world.machines, &groups);
    if world.machines.is_empty() {
        found.push(
            Diagnostic::new(Code::AvailabilityNotChecked, "no Node was read: no class is discovered, and those discovered before have no node")
                .help("load nodes with `-f`: `kubectl get nodes -o yaml | ome discover -f -`"),
        );
    }
    let mut followers: BTreeMap<&EcoString, Vec<Followed<'_>>> = BTreeMap::new();
    for group in &groups {
        let before = found.len();
        let proposal = match world.of_group(group, &index, &mut found) {
            Some(Outcome::Proposed(proposal)) => Some(proposal),
            Some(Outcome::Followed(followed)) => {
                followers.entry(followed.class.name()).or_default().push(followed);
                None
            }
            None => None,
        };
        // A finding without a label is located at the node.
        let first = group.sightings.first();
        let node = first.and_then(|sighting| catalog.node(&sighting.machine.name));
        for finding in found[before..].iter_mut().filter(|finding| finding.labels.is_empty()) {
            *finding = finding.clone().at(node.map(crate::api::Object::name_span));
        }
        if let Some(proposal) = proposal {
            // Groups come sorted by name; of two with one name the first has it.
            classes.entry(proposal.name.clone()).or_insert(*proposal);
        }
    }
    for (name, followed) in followers {
        if let Some(proposal) = world.of_follower(&followed, &mut found) {
            classes.entry(name.clone()).or_insert(proposal);
        }
    }
    for class in &world.classes {
        if !options.nominal_memory {
            tiers::boundaries(class, world.machines, &mut found);
        }
        if !classes.contains_key(class.name()) {
            let action = match (is_auto_discovered(&class.object), world.members(class).is_empty())
            {
                (false, _) => Action::Kept,
                // It followed nodes, and there are none left.
                (true, true) => Action::Orphan,
                (true, false) => Action::Unchanged,
            };
            classes.insert(class.name().clone(), world.as_written(class, action));
        }
    }
    let with: BTreeSet<&EcoString> = groups
        .iter()
        .flat_map(|group| &group.sightings)
        .map(|sighting| &sighting.machine.name)
        .collect();
    let skipped = world.machines.iter().filter(|machine| !with.contains(&machine.name));
    let skipped = skipped
        .map(|machine| Skipped { node: machine.name.clone(), reason: NO_ACCELERATOR })
        .collect();
    let tiers: Vec<&&AcceleratorClass> =
        world.classes.iter().filter(|class| tiers::is_tier(class)).collect();
    let in_no_tier = |compared: &&Machine| {
        with.contains(&compared.name)
            && !tiers.is_empty()
            && !tiers.iter().any(|class| class_matches(class, compared))
    };
    let no_tier =
        world.compared.iter().filter(in_no_tier).map(|machine| machine.name.clone()).collect();
    Checked {
        value: Discovered { classes: classes.into_values().collect(), skipped, no_tier },
        diagnostics: found,
    }
}

impl<'a> World<'a> {
    /// The action for the class of a product; `None` if classes written by hand cover all of it.
    fn of_group(
        &self,
        group: &Group<'_>,
        index: &Index<'_>,
        found: &mut Vec<Diagnostic>,
    ) -> Option<Outcome<'a>> {
        let proposed = |proposal: Proposal| Some(Outcome::Proposed(Box::new(proposal)));
        let named = self.classes.iter().find(|class| *class.name() == group.name);
        // The name is taken by a class that is never changed, so there is nothing to create.
        if let Some(class) = named.filter(|class| !is_auto_discovered(&class.object)) {
            let mut findings = Vec::new();
            let draft = group.draft(self.options.measured, &mut findings);
            input_classes::drift(class, group, &draft, &mut findings);
            found.extend(findings.into_iter().filter(about_nodes));
            return proposed(self.as_written(class, Action::Kept));
        }
        // A class that is written by hand has precedence, whatever its name is.
        let manual = |mark: &Mark| {
            self.classes.iter().find(|class| {
                !is_auto_discovered(&class.object) && input_classes::covers(class, group, mark)
            })
        };
        let owners: BTreeMap<&Mark, &&AcceleratorClass> =
            group.marks().into_iter().filter_map(|mark| Some((mark, manual(mark)?))).collect();
        let mut rest = group.clone();
        let mut taken: BTreeMap<&EcoString, (&AcceleratorClass, Vec<Sighting<'_>>)> =
            BTreeMap::new();
        rest.sightings.retain(|sighting| match owners.get(&sighting.mark) {
            None => true,
            Some(class) => {
                taken
                    .entry(class.name())
                    .or_insert_with(|| (class, Vec::new()))
                    .1
                    .push(sighting.clone());
                false
            }
        });
        for (class, sightings) in taken.into_values() {
            self.overridden(class, &Group { name: group.name.clone(), sightings }, found);
        }
        if rest.sightings.is_empty() {
            return None;
        }
        let mut draft = rest.draft(self.options.measured, found);
        let marks = rest.marks();
        let marked = index.marked(&marks);
        if let Some(class) = named {
            // Its selection comes from a Kueue flavor: `ome kueue` keeps the two in step.
            let of_flavor = class.object.annotation(FLAVOR_OF_CLASS).is_some();
            if of_flavor {
                keep_discovery(&mut draft);
            }
            return proposed(self.followed(class, draft, (!of_flavor).then_some(&marked)));
        }
        // A class that follows the nodes under another name continues to do so, and keeps its own
        // selection of nodes. A class with the name of another product belongs to that product.
        let of_others = |class: &AcceleratorClass| index.names_group(class.name());
        let follows = |class: &&&'a AcceleratorClass| {
            is_auto_discovered(&class.object)
                && !of_others(class)
                && marks.iter().all(|mark| input_classes::covers(class, &rest, mark))
        };
        if let Some(class) = self.classes.iter().find(follows) {
            keep_discovery(&mut draft);
            draft.name = class.name().clone();
            return Some(Outcome::Followed(Followed { class, word: group.word().into(), draft }));
        }
        proposed(self.created(draft, &marked))
    }

    /// The proposal for a class that follows its nodes under another name. For several products, it
    /// sets the values that they have in common and keeps the other values of the class.
    fn of_follower(
        &self,
        followed: &[Followed<'a>],
        found: &mut Vec<Diagnostic>,
    ) -> Option<Proposal> {
        let (first, others) = followed.split_first()?;
        let mut draft = first.draft.clone();
        // A value that only some of the products have would be untrue for the nodes of the others.
        let (common, apart): (Vec<Fact>, Vec<Fact>) = draft.facts.into_iter().partition(|fact| {
            let same = |other: &Fact| other.path == fact.path && other.value == fact.value;
            others.iter().all(|other| other.draft.facts.iter().any(same))
        });
        draft.facts = common;
        if let Some(fact) = apart.first() {
            let words: Vec<&str> = followed.iter().map(|product| product.word.as_str()).collect();
            let message = format!(
                "class `{}` follows {}, which differ in `{}`: it keeps its own value",
                first.class.name(),
                words.join(" and "),
                fact.path
            );
            found.push(
                Diagnostic::new(Code::NodesDiffer, message)
                    .at(first.class.object.name_span())
                    .object(first.class.object.id.to_string())
                    .help("narrow what it selects, or delete it: every product then gets a class of its own"),
            );
        }
        Some(self.followed(first.class, draft, None))
    }

    /// Reports that a class written by hand covers a product, and where it differs from its nodes.
    fn overridden(&self, class: &AcceleratorClass, group: &Group<'_>, found: &mut Vec<Diagnostic>) {
        let mut findings = Vec::new();
        let draft = group.draft(self.options.measured, &mut findings);
        // A class that matches none of the nodes covers the product by its name; values of nodes
        // that it does not select cannot contradict it.
        if group.sightings.iter().any(|sighting| class_matches(class, sighting.machine)) {
            input_classes::drift(class, group, &draft, &mut findings);
        }
        found.extend(findings.into_iter().filter(about_nodes));
        let place = self.sources.locate(class.object.span);
        let second = self.classes.iter().find(|class| {
            is_auto_discovered(&class.object)
                && group.marks().iter().all(|mark| input_classes::covers(class, group, mark))
        });
        found.push(
            Diagnostic::new(
                Code::DiscoveryOverridden,
                format!(
                    "class `{}` of {} covers `{}`: no class is made for it",
                    class.name(),
                    place.file,
                    group.word()
                ),
            )
            .at(class.object.name_span())
            .object(class.object.id.to_string())
            .maybe_help(second.map(|second| {
                format!("delete class `{}`, which follows the same nodes", second.name())
            })),
        );
    }
}

/// Findings about the nodes, which are reported even if the class is written by hand.
fn about_nodes(finding: &Diagnostic) -> bool {
    !matches!(finding.code, Code::UnknownProduct | Code::CountedPerDie)
}

fn keep_discovery(draft: &mut Draft) {
    draft.facts.retain(|fact| !fact.path.to_string().starts_with("spec.discovery"));
}

/// Classes of a file of Helm values, one per entry (OEP-0003, Deployment Strategies;
/// docs/decisions.md#class-templates).
pub fn from_values(
    values: &Node,
    catalog: &Catalog,
    sources: &SourceMap,
    options: Options,
) -> Checked<Discovered> {
    let world = World::new(catalog, sources, options);
    let mut found = Vec::new();
    let mut classes: BTreeMap<EcoString, Proposal> = BTreeMap::new();
    for (mut draft, span) in values::drafts(values, &mut found) {
        let proposal = if let Some(class) =
            world.classes.iter().find(|class| *class.name() == draft.name)
        {
            // Labels of unknown products are set once, and then corrected by hand.
            if draft.facts.iter().any(|fact| {
                fact.path.to_string().starts_with("spec.discovery") && fact.evidence.is_observed()
            }) {
                keep_discovery(&mut draft);
            }
            world.followed(class, draft, None)
        } else {
            let object = draft.object(options.semantics);
            // The class is not in the catalog yet, so its nodes are found by the object itself.
            let members = values::members(&object, span, &world);
            world.created(draft, &members)
        };
        classes.insert(proposal.name.clone(), proposal);
    }
    for class in &world.classes {
        let action =
            if is_auto_discovered(&class.object) { Action::Unchanged } else { Action::Kept };
        classes.entry(class.name().clone()).or_insert_with(|| world.as_written(class, action));
    }
    Checked {
        value: Discovered { classes: classes.into_values().collect(), ..Discovered::default() },
        diagnostics: found,
    }
}
