//! `ome kueue export`: creates and updates the flavors that classes name (OEP-0003, Kueue
//! Integration).

use super::flavor::Wanted;
use super::import::text;
use super::labels::{Labels, alternatives, apart, split_names};
use super::{
    Links, Options, Prefer, carried_in, carries_the_same, conflict, labels_of, link,
    not_expressible,
};
use crate::api::{AcceleratorClass, Field, ResourceFlavor};
use crate::catalog::Catalog;
use crate::cluster::{Machine, Taint};
use crate::diag::{Checked, Code, Diagnostic};
use crate::exchange::class::{Change, PROPOSED};
use crate::operators::kueue::read::{CLASS_OF_FLAVOR, TOPOLOGY};
use crate::quantity::names;
use crate::yaml::{Map, Node, Origin, Value};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Maximum number of labels, taints or tolerations of a flavor.
const MOST: usize = 8;

/// The action for a flavor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlavorAction {
    /// The flavor does not exist yet.
    Create,
    /// The flavor exists and differs.
    Update,
    /// The flavor exists and is equal.
    InSync,
    /// The flavor exists, differs, and is not made from the class.
    Conflict,
}

impl FlavorAction {
    /// The value in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::InSync => "in-sync",
            Self::Conflict => "conflict",
        }
    }

    /// Whether the object has to be written.
    pub fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Update)
    }
}

/// Why a class makes no flavor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotExported {
    /// It names no flavor.
    NoFlavorLink,
    /// The flavor is preferred and is not changed.
    FlavorPreferred,
    /// Another class makes the same flavor.
    SameFlavor,
}

impl NotExported {
    /// The value in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoFlavorLink => "no-flavor-link",
            Self::FlavorPreferred => "flavor-preferred",
            Self::SameFlavor => "same-flavor",
        }
    }
}

/// The result for one flavor.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Name of the flavor.
    pub name: EcoString,
    /// Name of the class.
    pub class: EcoString,
    /// The action.
    pub action: FlavorAction,
    /// The flavor after the action.
    pub object: Node,
    /// Its changes.
    pub changes: Vec<Change>,
}

/// The results for all flavors.
#[derive(Clone, Debug, Default)]
pub struct Flavors {
    /// By name.
    pub exported: Vec<Exported>,
    /// Classes that make no flavor, by name.
    pub skipped: Vec<(EcoString, NotExported)>,
    /// A class names a flavor but cannot be expressed as one.
    pub failed: bool,
}

/// Exports the flavor of every class.
pub fn export(catalog: &Catalog, options: Options<'_>) -> Checked<Flavors> {
    let links = Links::of(catalog, options.semantics);
    let mut found: Vec<Diagnostic> =
        links.contradicting.iter().map(|(_, finding)| finding.clone()).collect();
    // A class with two flavors is an error already.
    let mut out = Flavors { failed: !found.is_empty(), ..Flavors::default() };
    let mut makers: BTreeMap<EcoString, (&AcceleratorClass, Wanted)> = BTreeMap::new();
    for class in links.classes().filter(|class| (options.selected)(&class.object)) {
        let name = match link(class) {
            Ok(Some(name)) => name,
            Ok(None) => {
                out.skipped.push((class.name().clone(), NotExported::NoFlavorLink));
                continue;
            }
            // Reported with the contradicting links above.
            Err(_) => continue,
        };
        let wanted = match wanted(class, &name, catalog.machines(), options) {
            Ok(wanted) => wanted,
            Err(findings) => {
                found.extend(findings);
                out.failed = true;
                continue;
            }
        };
        for wanted in wanted {
            // Flavors are made when all classes are read: two may make the same one.
            match makers.get(&wanted.name) {
                None => {
                    makers.insert(wanted.name.clone(), (class, wanted));
                }
                Some((_, other)) if other.labels == wanted.labels => {
                    out.skipped.push((class.name().clone(), NotExported::SameFlavor));
                }
                Some((first, other)) => {
                    found.push(
                        Diagnostic::new(
                            Code::KueueConflict,
                            format!(
                                "classes `{}` and `{}` both make flavor `{}`: {} and {}",
                                first.name(),
                                class.name(),
                                wanted.name,
                                text(&other.labels),
                                text(&wanted.labels)
                            ),
                        )
                        .severity(crate::diag::Severity::Error)
                        .at(class.object.name_span())
                        .label(first.object.name_span(), "the other class")
                        .object(class.object.id.to_string())
                        .object(first.object.id.to_string())
                        .help("give each class a flavor of its own"),
                    );
                    out.failed = true;
                }
            }
        }
    }
    for (class, wanted) in makers.into_values() {
        match catalog.flavor(&wanted.name) {
            None => out.exported.push(exported(
                class,
                &wanted,
                FlavorAction::Create,
                wanted.object(options.version),
                Vec::new(),
            )),
            Some(flavor) => match existing(class, &wanted, flavor, options, &mut found) {
                Some(one) => out.exported.push(one),
                None => out.skipped.push((class.name().clone(), NotExported::FlavorPreferred)),
            },
        }
    }
    out.skipped.sort();
    Checked { value: out, diagnostics: found }
}

fn exported(
    class: &AcceleratorClass,
    wanted: &Wanted,
    action: FlavorAction,
    object: Node,
    changes: Vec<Change>,
) -> Exported {
    Exported { name: wanted.name.clone(), class: class.name().clone(), action, object, changes }
}

/// The result for an existing flavor; `None` if it is not changed.
fn existing(
    class: &AcceleratorClass,
    wanted: &Wanted,
    flavor: &ResourceFlavor,
    options: Options<'_>,
    found: &mut Vec<Diagnostic>,
) -> Option<Exported> {
    let carried = carried_in(class).unwrap_or_default();
    // Taints and topology of a split flavor are those of its nodes, and the class does not carry
    // them.
    let same_rest = wanted.one_of.is_some() || carries_the_same(class, &carried, flavor);
    let same_labels = labels_of(flavor) == wanted.labels;
    if same_labels && same_rest {
        return Some(exported(
            class,
            wanted,
            FlavorAction::InSync,
            flavor.object.node.clone(),
            Vec::new(),
        ));
    }
    // The annotation shows that this tool made the flavor from the class: it may be made again.
    let is_created = wanted.one_of.is_some()
        && flavor.object.annotation(CLASS_OF_FLAVOR).and_then(Node::as_str) == Some(class.name());
    match options.prefer {
        Some(Prefer::Flavor) => None,
        None if !is_created => {
            let why = if same_labels {
                "taints, tolerations or topology differ".to_owned()
            } else {
                format!(
                    "{} in the class, {} in the flavor",
                    text(&wanted.labels),
                    text(&labels_of(flavor))
                )
            };
            let help = "run `ome kueue import` where the class follows the flavor, or choose with `--prefer class`";
            found.push(conflict(class, flavor, &why, help));
            Some(exported(
                class,
                wanted,
                FlavorAction::Conflict,
                flavor.object.node.clone(),
                Vec::new(),
            ))
        }
        Some(Prefer::Class) | None => {
            let (object, changes) =
                wanted.over(&flavor.object.node, wanted.one_of.is_none() && !same_rest);
            Some(exported(class, wanted, FlavorAction::Update, object, changes))
        }
    }
}

/// The flavors that a class requires.
pub(super) fn wanted(
    class: &AcceleratorClass,
    name: &Field<EcoString>,
    machines: &[Machine],
    options: Options<'_>,
) -> Result<Vec<Wanted>, Vec<Diagnostic>> {
    let alternatives =
        alternatives(class).map_err(|obstacles| vec![not_expressible(class, &obstacles)])?;
    let about = |code: Code, message: String| {
        Diagnostic::new(code, message)
            .at(class.object.name_span())
            .object(class.object.id.to_string())
    };
    if alternatives.len() > 1 && !options.split {
        let apart = apart(&alternatives);
        // The terms have several values; the selector never does.
        let place = class
            .discovery
            .terms
            .as_ref()
            .or(class.discovery.affinity.as_ref())
            .and_then(|terms| terms.origin.span());
        let message = format!(
            "class `{}` is not expressible as nodeLabels: {}",
            class.name(),
            apart.join(", ")
        );
        let finding = Diagnostic::new(Code::NotExpressible, message)
            .at(place.or_else(|| Some(class.object.name_span())))
            .object(class.object.id.to_string());
        return Err(vec![finding.help("make one flavor of each value with `--split`")]);
    }
    let names = if alternatives.len() > 1 {
        split_names(&name.value, &alternatives)
    } else {
        vec![name.value.clone()]
    };
    let mut found = Vec::new();
    if let Some(problem) = names::dns1123_subdomain(&name.value).into_iter().next() {
        let finding = Diagnostic::new(
            Code::InvalidName,
            format!("`{}` is not a valid name of a ResourceFlavor: {problem}", name.value),
        );
        found.push(
            finding
                .at(name.span())
                .object(class.object.id.to_string())
                .help("write the name of a flavor"),
        );
    }
    let carried = carried_in(class).map_err(|finding| vec![*finding])?;
    let split = alternatives.len() > 1;
    let mut out = Vec::new();
    for (labels, name) in alternatives.into_iter().zip(names) {
        check_labels(class, &labels, &mut found);
        let mut carried = carried.clone();
        // Values that the class carries come from its flavor; nodes are only read for values that
        // neither of them has.
        if carried.iter().all(|(field, _)| *field == TOPOLOGY) {
            carried.extend(of_machines(&labels, machines, options.tolerations));
        } else if !options.tolerations {
            carried.retain(|(field, _)| *field != "tolerations");
        }
        for (field, value) in &carried {
            if value.items().len() > MOST {
                let message = format!(
                    "class `{}`: its flavor would have {} {field}, and a flavor holds {MOST}",
                    class.name(),
                    value.items().len()
                );
                found.push(
                    about(Code::NotExpressible, message)
                        .help("split the nodes of the class by fewer taints"),
                );
            }
        }
        out.push(Wanted { name, labels, carried, one_of: split.then(|| class.name().clone()) });
    }
    if found.is_empty() { Ok(out) } else { Err(found) }
}

fn check_labels(class: &AcceleratorClass, labels: &Labels, found: &mut Vec<Diagnostic>) {
    let about = |code: Code, message: String| {
        Diagnostic::new(code, message)
            .at(class.object.name_span())
            .object(class.object.id.to_string())
    };
    if labels.len() > MOST {
        let message = format!(
            "class `{}` requires {} labels, and a flavor has at most {MOST} nodeLabels",
            class.name(),
            labels.len()
        );
        found.push(about(Code::TooManyLabels, message).help("select its nodes by fewer labels"));
    }
    for (key, value) in labels {
        let problem = names::qualified_name(key)
            .into_iter()
            .next()
            .or_else(|| names::label_value(value).into_iter().next());
        if let Some(problem) = problem {
            let message = format!(
                "class `{}` is not expressible as nodeLabels: `{key}: {value}` is no label: {problem}",
                class.name()
            );
            found.push(
                about(Code::NotExpressible, message).help("write a label that a node can have"),
            );
        }
    }
}

/// Taints that every node with these labels has, except those that Kubernetes sets itself, and
/// tolerations for them.
fn of_machines(
    labels: &Labels,
    machines: &[Machine],
    tolerations: bool,
) -> Vec<(&'static str, Node)> {
    const ORIGIN: Origin = Origin::Derived(&PROPOSED);
    let nodes: Vec<&Machine> = machines
        .iter()
        .filter(|machine| labels.iter().all(|(key, value)| machine.label(key) == Some(value)))
        .collect();
    // Without labels the flavor is about every node, whose taints say nothing about it.
    let Some((first, others)) = nodes.split_first().filter(|_| !labels.is_empty()) else {
        return Vec::new();
    };
    let shared = |taint: &&Taint| {
        // Such taints are about the state of a node, as `unreachable`, and come and go.
        !taint.key.starts_with("node.kubernetes.io/")
            && others.iter().all(|machine| machine.taints.contains(taint))
    };
    let mut taints: Vec<&Taint> = first.taints.iter().filter(shared).collect();
    // Nodes list their taints in any order; the flavor must not change with it.
    taints.sort_by(|a, b| (&a.key, &a.effect).cmp(&(&b.key, &b.effect)));
    let map = |pairs: &[(&str, &str)]| -> Node {
        let mut map = Map::new();
        // A taint without a value has no such field.
        for (key, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
            map.insert(*key, Node::str(*value, ORIGIN));
        }
        Node::new(Value::Map(map), ORIGIN)
    };
    let mut out = Vec::new();
    if !taints.is_empty() {
        out.push((
            "nodeTaints",
            Node::list(
                taints.iter().map(|taint| {
                    map(&[("key", &taint.key), ("value", &taint.value), ("effect", &taint.effect)])
                }),
                ORIGIN,
            ),
        ));
        if tolerations {
            let of = |taint: &&Taint| {
                map(&[("key", &taint.key), ("operator", "Exists"), ("effect", &taint.effect)])
            };
            out.push(("tolerations", Node::list(taints.iter().map(of), ORIGIN)));
        }
    }
    out
}
