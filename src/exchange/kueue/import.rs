//! `ome kueue import`: makes classes from flavors.

use super::{
    Links, Options, Prefer, Tie, carried_by, carried_in, carries_the_same, conflict, labels_of,
};
use crate::api::{AcceleratorClass, ResourceFlavor};
use crate::catalog::Catalog;
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::diag::{Checked, Code, Diagnostic};
use crate::exchange::class::{
    AUTO_DISCOVERED, Action, Change, Draft, Evidence, Fact, is_auto_discovered,
};
use crate::exchange::discover::described;
use crate::exchange::kueue::labels::alternatives;
use crate::facts;
use crate::operators::kueue::read::{CARRIED, FLAVOR_OF_CLASS, IS_ACCELERATOR};
use crate::yaml::{Entry, FieldPath, Node, Segment, Value};
use ecow::{EcoString, eco_format};

/// Why a flavor counts as one of accelerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Its name begins with `gpu-` (OEP-0003, Kueue Integration).
    Prefix,
    /// It has a label for accelerators.
    GpuLabel,
    /// Its annotation is set.
    Annotation,
    /// A class names it.
    Link,
}

impl Admission {
    /// The value in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::GpuLabel => "gpu-label",
            Self::Annotation => "annotation",
            Self::Link => "link",
        }
    }
}

/// Why a flavor is not imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotImported {
    /// Nothing marks it as one of accelerators.
    NotAGpuFlavor,
    /// Its annotation excludes it.
    OptedOut,
}

impl NotImported {
    /// The value in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAGpuFlavor => "not-a-gpu-flavor",
            Self::OptedOut => "opted-out",
        }
    }
}

/// The result for one class.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Name of the class.
    pub name: EcoString,
    /// Name of the flavor.
    pub flavor: EcoString,
    /// The action.
    pub action: Action,
    /// Why the flavor counts as one of accelerators.
    pub rule: Admission,
    /// The class after the action.
    pub object: Node,
    /// Its changes.
    pub changes: Vec<Change>,
    /// Its values with their evidence.
    pub facts: Vec<Fact>,
}

/// The results for all classes.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// By name of the class, then of the flavor.
    pub classes: Vec<Imported>,
    /// Flavors that are not imported, by name.
    pub skipped: Vec<(EcoString, NotImported)>,
}

/// Whether a flavor is one of accelerators. An annotation that denies it has precedence.
pub(super) fn admission(
    flavor: &ResourceFlavor,
    is_linked: bool,
) -> Result<Admission, NotImported> {
    let annotation = flavor.object.annotation(IS_ACCELERATOR).and_then(Node::scalar_text);
    // Only looked at where the cheaper test of single labels finds nothing.
    let shown = || !described(&[Machine::of_flavor(flavor)]).is_empty();
    let labeled = || {
        flavor.node_labels.iter().any(|entry| {
            entry.node.as_str().is_some_and(|value| facts::labels_accelerator(&entry.key, value))
        })
    };
    match annotation.as_deref() {
        // First, so that no other rule can overrule the user.
        Some("false") => Err(NotImported::OptedOut),
        _ if flavor.name().starts_with("gpu-") => Ok(Admission::Prefix),
        _ if labeled() || shown() => Ok(Admission::GpuLabel),
        Some("true") => Ok(Admission::Annotation),
        _ if is_linked => Ok(Admission::Link),
        _ => Err(NotImported::NotAGpuFlavor),
    }
}

/// Imports the classes of every flavor.
pub fn import(catalog: &Catalog, options: Options<'_>) -> Checked<Classes> {
    let links = Links::of(catalog, options.semantics);
    let mut found: Vec<Diagnostic> =
        links.contradicting.iter().map(|(_, finding)| finding.clone()).collect();
    let mut out = Classes::default();
    for flavor in catalog.flavors().filter(|flavor| (options.selected)(&flavor.object)) {
        let (classes, missing) = links.classes_of(flavor);
        let rule = match admission(
            flavor,
            classes.iter().any(|(_, tie)| matches!(tie, Tie::Link | Tie::Split)),
        ) {
            Ok(rule) => rule,
            Err(reason) => {
                out.skipped.push((flavor.name().clone(), reason));
                continue;
            }
        };
        found.extend(missing);
        let one = One { flavor, rule, options, machines: catalog.machines() };
        if classes.is_empty()
            && catalog
                .class_by(options.semantics, flavor.name())
                // A class of the user with this name and without a tie names two flavors, which is
                // reported.
                .is_none_or(|class| class.object.builtin)
        {
            out.classes.push(one.create(&mut found));
        }
        for (class, tie) in classes {
            out.classes.push(one.follow(class, &tie, &mut found));
        }
    }
    out.classes.sort_by(|a, b| (&a.name, &a.flavor).cmp(&(&b.name, &b.flavor)));
    Checked { value: out, diagnostics: found }
}

/// Path of the figures of a class, which may become empty.
const PERFORMANCE: [&str; 3] = ["spec", "capabilities", "performance"];

/// The import of one flavor.
struct One<'a, 'o> {
    flavor: &'a ResourceFlavor,
    rule: Admission,
    options: Options<'o>,
    machines: &'a [Machine],
}

impl One<'_, '_> {
    fn imported(
        &self,
        name: &EcoString,
        action: Action,
        object: Node,
        changes: Vec<Change>,
        draft: Draft,
    ) -> Imported {
        Imported {
            name: name.clone(),
            flavor: self.flavor.name().clone(),
            action,
            rule: self.rule,
            object,
            changes,
            facts: draft.facts,
        }
    }

    fn create(&self, found: &mut Vec<Diagnostic>) -> Imported {
        let draft = self.draft(self.flavor.name(), found);
        let object = draft.object(self.options.semantics);
        self.imported(self.flavor.name(), Action::Create, object, Vec::new(), draft)
    }

    /// The result for an existing class.
    fn follow(&self, class: &AcceleratorClass, tie: &Tie, found: &mut Vec<Diagnostic>) -> Imported {
        let auto = is_auto_discovered(&class.object);
        let alternatives = alternatives(class);
        let labels = labels_of(self.flavor);
        let same_labels = alternatives.as_ref().is_ok_and(|messages| {
            if *tie == Tie::Split {
                messages.contains(&labels)
            } else {
                *messages == [labels.clone()]
            }
        });
        let carried = carried_in(class).unwrap_or_else(|finding| {
            found.push(*finding);
            Vec::new()
        });
        let same_rest = *tie == Tie::Split || carries_the_same(class, &carried, self.flavor);
        let linked = matches!(tie, Tie::Link | Tie::Split);
        let on_disk = |action: Action| {
            self.imported(
                class.name(),
                action,
                without_status(&class.object.node),
                Vec::new(),
                Draft::new(class.name().clone()),
            )
        };
        let mut refuse = |why: String, help: &str| {
            found.push(conflict(class, self.flavor, &why, help));
            on_disk(Action::Conflict)
        };
        // A class that follows flavors and has no link yet gets one, even if it is equal.
        if same_labels && same_rest && (linked || !auto) && !matches!(tie, Tie::Other(_)) {
            return on_disk(Action::Unchanged);
        }
        if self.options.prefer == Some(Prefer::Class) {
            return on_disk(Action::Unchanged);
        }
        let differs = || match &alternatives {
            Ok(messages) => eco_format!(
                "{} in the class, {} in the flavor",
                messages.iter().map(text).collect::<Vec<_>>().join(" or "),
                text(&labels)
            ),
            Err(obstacles) => {
                eco_format!("{} in the class, {} in the flavor", obstacles[0].text, text(&labels))
            }
        };
        match tie {
            Tie::Split => {
                return refuse(
                    differs().into(),
                    "a class of several flavors follows none of them: correct its terms, or the flavor",
                );
            }
            Tie::Other(other) if self.options.prefer.is_none() => {
                return refuse(
                    format!("the class has the flavor's name and belongs to flavor `{other}`"),
                    "rename one of the two, or take the class over with `--prefer flavor`",
                );
            }
            // A class that was made from its flavor is changed without being asked.
            _ if auto || self.options.prefer == Some(Prefer::Flavor) => {}
            _ => {
                let why = if same_labels {
                    "taints, tolerations or topology differ".to_owned()
                } else {
                    differs().into()
                };
                return refuse(
                    why,
                    "correct one of the two, or choose with `--prefer flavor` or `--prefer class`",
                );
            }
        }
        // Labels of the class are those that its flavor had when it was imported.
        let former = alternatives.as_deref().ok().and_then(<[_]>::first);
        let former = former.filter(|_| auto && !same_labels);
        let draft = self.draft_over(class, (auto, same_labels, linked), &carried, found);
        self.updated(class, former, draft)
    }

    /// The facts of the flavor that the class does not have.
    fn draft_over(
        &self,
        class: &AcceleratorClass,
        (auto, same_labels, linked): (bool, bool, bool),
        carried: &[(&'static str, Node)],
        found: &mut Vec<Diagnostic>,
    ) -> Draft {
        let mut draft = if auto && !same_labels {
            self.draft(class.name(), found)
        } else {
            Draft::new(class.name().clone())
        };
        if !auto {
            self.say_labels(&mut draft);
        }
        self.say_link(&mut draft);
        // The annotation alone is a link too.
        if linked {
            draft.facts.retain(|fact| {
                !is_link(&fact.path)
                    || class
                        .object
                        .node
                        .select(&fact.path)
                        .first()
                        .is_some_and(|node| **node != fact.value)
            });
        }
        if carries_the_same(class, carried, self.flavor) {
            draft.facts.retain(|fact| {
                !CARRIED.iter().any(|(annotation, _, _)| ends_with(&fact.path, annotation))
            });
        }
        draft
    }

    /// The class with the facts of a draft, and without values of an earlier state of its flavor.
    fn updated(
        &self,
        class: &AcceleratorClass,
        former: Option<&super::Labels>,
        draft: Draft,
    ) -> Imported {
        let written = without_status(&class.object.node);
        // Compared with what is on disk, before stale values are taken out.
        let mut changes = draft.changes(&written);
        let stale = self.stale(class, former, &draft);
        let mut base = written.clone();
        for (path, rest) in &stale {
            base.set(&path.0, rest.clone());
        }
        // The last figure of the former accelerator is gone.
        if base.at(&PERFORMANCE).is_some_and(Node::is_empty) {
            base.set(
                &PERFORMANCE.iter().fold(FieldPath::root(), |path, key| path.field(*key)).0,
                None,
            );
        }
        let object = draft.over(&base, self.options.semantics);
        let unsaid = stale
            .into_iter()
            .filter(|(path, _)| !draft.facts.iter().any(|fact| fact.path == *path));
        changes.extend(unsaid.map(|(path, to)| Change {
            from: value_at(&written, &path),
            path,
            to,
        }));
        let action = if changes.is_empty() { Action::Unchanged } else { Action::Update };
        self.imported(class.name(), action, object, changes, draft)
    }

    /// Values that the class has from an earlier state of its flavor, each with its replacement:
    /// annotations for fields that the flavor no longer sets, and values for its former
    /// accelerators.
    fn stale(
        &self,
        class: &AcceleratorClass,
        former: Option<&super::Labels>,
        draft: &Draft,
    ) -> Vec<(FieldPath, Option<Node>)> {
        let carried = carried_by(self.flavor);
        let annotation =
            |name: &str| FieldPath::root().field("metadata").field("annotations").field(name);
        let unsaid = CARRIED.iter().map(|(name, _, _)| *name).filter(|name| {
            !carried.iter().any(|(other, _)| other == name)
                && class.object.annotation(name).is_some()
        });
        let mut stale: Vec<(FieldPath, Option<Node>)> =
            unsaid.map(|name| (annotation(name), None)).collect();
        let Some(labels) = former else { return stale };
        let node = &class.object.node;
        let labels = labels.iter().map(|(key, value)| Entry {
            key: key.clone(),
            key_origin: node.origin,
            node: Node::str(value.clone(), node.origin),
        });
        let before = Draft {
            name: class.name().clone(),
            facts: described(&[Machine::labeled(class.name().clone(), labels.collect())]),
        };
        let changed: Vec<FieldPath> =
            // A value that differs from what the former labels gave was written by hand and stays.
            before.changes(node).into_iter().map(|change| change.path).collect();
        for fact in before.facts.into_iter().filter(|fact| !changed.contains(&fact.path)) {
            let value = value_at(node, &fact.path);
            let rest = value
                .filter(|node| !node.items().is_empty() && ends_with(&fact.path, "resources"))
                .map(|node| {
                    // Only the resources of the former accelerator go: others may have been added
                    // by hand.
                    let named = |node: &Node, other: &Node| node.get("name") == other.get("name");
                    let kept = node.items().iter().filter(|item| {
                        !fact.value.items().iter().any(|former| named(former, item))
                    });
                    Node::list(kept.cloned(), node.origin)
                });
            let is_said = draft.facts.iter().any(|other| other.path == fact.path);
            if rest.is_some() || !is_said {
                stale.push((fact.path, rest.filter(|rest| !rest.is_empty())));
            }
        }
        stale
    }

    /// The class that the flavor describes.
    fn draft(&self, name: &EcoString, found: &mut Vec<Diagnostic>) -> Draft {
        let flavor = self.flavor;
        let mut draft = Draft::new(name.clone());
        // The label makes the class follow the flavor in later runs.
        draft.text(
            &["metadata", "labels", AUTO_DISCOVERED],
            "true",
            Evidence::Flavor(flavor.name().clone()),
        );
        self.say_link(&mut draft);
        self.say_labels(&mut draft);
        self.say_accelerator(&mut draft);
        let about = |code: Code, message: String| {
            Diagnostic::new(code, message)
                .at(flavor.object.name_span())
                .object(flavor.object.id.to_string())
        };
        if flavor.node_labels.is_empty() {
            let message = format!(
                "flavor `{}` has no nodeLabels: its class matches every node",
                flavor.name()
            );
            found.push(
                about(Code::MatchesEveryNode, message).help(
                    "write nodeLabels, or set the annotation `ome.io/accelerator: \"false\"`",
                ),
            );
        } else if draft.fact(&["spec", "capabilities", "memoryGB"]).is_none() {
            let label = flavor
                .node_labels
                .iter()
                .find(|entry| facts::PRODUCT_LABELS.contains(&entry.key.as_str()));
            let what = label
                .and_then(|entry| entry.node.as_str())
                .map_or_else(|| "its product".to_owned(), |value| format!("the product `{value}`"));
            let message = format!(
                "flavor `{}`: nothing is known about {what}, its class states no capabilities",
                flavor.name()
            );
            let finding = about(Code::UnknownProduct, message)
                .help("state them in the class, or read the Nodes of the flavor");
            found.push(
                finding.label(label.and_then(|entry| entry.node.origin.span()), "the product"),
            );
        }
        draft
    }

    /// Sets the flavor that the class belongs to, and the values that the class carries for it.
    fn say_link(&self, draft: &mut Draft) {
        let evidence = || Evidence::Flavor(self.flavor.name().clone());
        draft.text(
            &["metadata", "annotations", FLAVOR_OF_CLASS],
            self.flavor.name().clone(),
            evidence(),
        );
        for (annotation, text) in carried_by(self.flavor) {
            draft.text(&["metadata", "annotations", annotation], text, evidence());
        }
        draft.text(
            &["spec", "integration", "kueueResourceFlavor"],
            self.flavor.name().clone(),
            evidence(),
        );
    }

    fn say_labels(&self, draft: &mut Draft) {
        let labels: Vec<(EcoString, EcoString)> = labels_of(self.flavor).into_iter().collect();
        // The field is required, and an empty one selects every node as the flavor does.
        if labels.is_empty() {
            draft.say(
                &["spec", "discovery"],
                Node::map(self.flavor.object.node.origin),
                Evidence::Flavor(self.flavor.name().clone()),
            );
        } else {
            draft.labels(
                &["spec", "discovery", "nodeSelector"],
                &labels,
                Evidence::Flavor(self.flavor.name().clone()),
            );
        }
    }

    /// Evidence from a label becomes evidence from the flavor; evidence from data sheets is kept.
    fn by_flavor(&self, evidence: &Evidence) -> Evidence {
        match evidence {
            Evidence::Catalogue(product) => Evidence::Catalogue(product),
            Evidence::Each(all) => Evidence::Each(
                all.iter()
                    .map(|(value, evidence)| (value.clone(), self.by_flavor(evidence)))
                    .collect(),
            ),
            _ => Evidence::Flavor(self.flavor.name().clone()),
        }
    }

    /// Sets the values that follow from the flavor's labels, read like labels of a node, and from
    /// data sheets; then those that follow from its nodes.
    fn say_accelerator(&self, draft: &mut Draft) {
        let flavor = Machine::of_flavor(self.flavor);
        let selector =
            Node::new(Value::Map(self.flavor.node_labels.clone()), self.flavor.object.node.origin);
        let is_selected = |machine: &&Machine| {
            // A flavor without labels would take the facts of any node.
            !selector.is_empty() && machines::selector_mismatch(&selector, machine).is_none()
        };
        let nodes: Vec<Machine> = self.machines.iter().filter(is_selected).cloned().collect();
        // The flavor's own labels first: a value that is set stays.
        for fact in described(&[flavor]) {
            let evidence = self.by_flavor(&fact.evidence);
            draft.put(Fact { evidence, ..fact });
        }
        for fact in described(&nodes) {
            draft.put(fact);
        }
    }
}

fn without_status(node: &Node) -> Node {
    let mut node = node.clone();
    node.set(&FieldPath::root().field("status").0, None);
    node
}

fn value_at(node: &Node, path: &FieldPath) -> Option<Node> {
    node.select(path).into_iter().next().filter(|node| !node.is_null()).cloned()
}

fn ends_with(path: &FieldPath, key: &str) -> bool {
    matches!(path.0.last(), Some(Segment::Field(last)) if last == key)
}

fn is_link(path: &FieldPath) -> bool {
    ends_with(path, FLAVOR_OF_CLASS) || ends_with(path, "kueueResourceFlavor")
}

/// `{a: b, c: d}`.
pub(super) fn text(labels: &super::Labels) -> String {
    let pairs: Vec<String> = labels.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", pairs.join(", "))
}
