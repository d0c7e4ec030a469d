//! Conversion of Kueue ResourceFlavors to AcceleratorClasses and back (OEP-0003, Kueue
//! Integration).
//!
//! In: the flavors, classes and nodes of the catalog. Out: the result for every class
//! ([`import()`]) or flavor ([`export()`]), with object and changes, or the relation between the
//! two ([`diff()`]). A class that was made from a flavor follows it; a class written by hand is
//! only changed on request. Both directions use the input and never the result of the other one, so
//! that no result is derived from itself.

mod diff;
mod export;
mod flavor;
mod import;
mod labels;

pub use diff::{Diffed, Pair, State, diff};
pub use export::{FlavorAction, Flavors, export};
pub use flavor::KueueVersion;
pub use import::{Classes, Imported, import};

use crate::api::{AcceleratorClass, Field, Object, ResourceFlavor, Semantics};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::exchange::class::is_auto_discovered;
use crate::operators::kueue::read::{CARRIED, CLASS_OF_FLAVOR, FLAVOR_OF_CLASS, flavor_of_class};
use crate::yaml::Node;
use ecow::EcoString;
use labels::{Labels, Obstacle};
use std::collections::BTreeMap;

/// Which one wins if a class and its flavor differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefer {
    /// The flavor.
    Flavor,
    /// The class.
    Class,
}

/// Options of a conversion.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// The mode that determines the format in which classes are written.
    pub semantics: Semantics,
    /// Which one wins. If it is not set, a class made from a flavor follows it, and any other
    /// conflict is not resolved.
    pub prefer: Option<Prefer>,
    /// Make several flavors from a class with several kinds of nodes.
    pub split: bool,
    /// Add tolerations for the taints of flavors.
    pub tolerations: bool,
    /// Version in which flavors are written.
    pub version: KueueVersion,
    /// Selects the objects that the command is about.
    pub selected: &'o dyn Fn(&Object) -> bool,
}

/// How a class and a flavor are linked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tie {
    /// The class names the flavor.
    Link,
    /// The flavor names the class: it is one of several flavors of the class.
    Split,
    /// They have the same name, and the class names no flavor.
    Name,
    /// They have the same name, and the class names another flavor.
    Other(EcoString),
}

/// The user's classes by the flavors that they name. Built-in classes name none, and a user's class
/// with the same name replaces them.
struct Links<'a> {
    catalog: &'a Catalog,
    semantics: Semantics,
    by_flavor: BTreeMap<EcoString, Vec<&'a AcceleratorClass>>,
    /// Classes that name two different flavors.
    contradicting: Vec<(&'a AcceleratorClass, Diagnostic)>,
}

impl<'a> Links<'a> {
    fn of(catalog: &'a Catalog, semantics: Semantics) -> Self {
        let mut links =
            Self { catalog, semantics, by_flavor: BTreeMap::new(), contradicting: Vec::new() };
        for class in links.classes() {
            match link(class) {
                Ok(Some(name)) => links.by_flavor.entry(name.value).or_default().push(class),
                // A class that names no flavor can still be tied by name.
                Ok(None) => {}
                Err(finding) => links.contradicting.push((class, *finding)),
            }
        }
        links
    }

    /// The classes that are not built in, by name.
    fn classes(&self) -> impl Iterator<Item = &'a AcceleratorClass> + use<'a> {
        self.catalog.classes_by(self.semantics).filter(|class| !class.object.builtin)
    }

    /// A class of the user.
    fn class(&self, name: &str) -> Option<&'a AcceleratorClass> {
        self.catalog.class_by(self.semantics, name).filter(|class| !class.object.builtin)
    }

    fn contradicts(&self, class: &AcceleratorClass) -> bool {
        self.contradicting
            .iter()
            .any(|(accelerator_class, _)| accelerator_class.name() == class.name())
    }

    /// The classes that a flavor belongs to, by name; and a finding if it names a class that does
    /// not exist.
    fn classes_of(
        &self,
        flavor: &ResourceFlavor,
    ) -> (Vec<(&'a AcceleratorClass, Tie)>, Option<Diagnostic>) {
        let mut found: Vec<(&'a AcceleratorClass, Tie)> = Vec::new();
        let mut finding = None;
        if let Some(named) = flavor.object.annotation(CLASS_OF_FLAVOR)
            && let Some(name) = named.as_str()
        {
            // The flavor's own annotation is the strongest tie, and a class is listed once.
            if let Some(class) = self.class(name) {
                found.push((class, Tie::Split));
            } else {
                let near = nearest(name, self.classes().map(|class| class.name().as_str()));
                let help = near.map_or_else(
                    || "load the class with `-f`, or delete the annotation".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                let message = format!(
                    "flavor `{}` belongs to AcceleratorClass `{name}`, which is not loaded",
                    flavor.name()
                );
                let diagnostic = Diagnostic::new(Code::AcceleratorNotFound, message)
                    .severity(Severity::Warning)
                    .at(named.origin.span());
                finding = Some(diagnostic.object(flavor.object.id.to_string()).help(help));
            }
        }
        for class in self.by_flavor.get(flavor.name()).into_iter().flatten() {
            if !found.iter().any(|(accelerator_class, _)| accelerator_class.name() == class.name())
            {
                found.push((class, Tie::Link));
            }
        }
        // Names are compared last: they are a guess where nothing was written.
        if found.is_empty()
            && let Some(class) = self.class(flavor.name())
            && !self.contradicts(class)
        {
            let tie = link(class).ok().flatten().map_or(Tie::Name, |other| Tie::Other(other.value));
            found.push((class, tie));
        }
        found.sort_by(|(a, _), (b, _)| a.name().cmp(b.name()));
        (found, finding)
    }
}

/// The flavor that a class names; an error if it names two.
fn link(class: &AcceleratorClass) -> Result<Option<Field<EcoString>>, Box<Diagnostic>> {
    match flavor_of_class(class) {
        [Some(field), Some(annotation)] if field.value != annotation.value => Err(Box::new(
            Diagnostic::new(
                Code::ConflictingFields,
                format!(
                    "class `{}` names two flavors: `{}` in integration.kueueResourceFlavor, `{}` in the annotation",
                    class.name(),
                    field.value,
                    annotation.value
                ),
            )
            .at(field.span())
            .label(annotation.span(), FLAVOR_OF_CLASS)
            .object(class.object.id.to_string())
            .help("delete one of the two"),
        )),
        [field, annotation] => Ok(field.or(annotation)),
    }
}

/// The labels of a flavor.
fn labels_of(flavor: &ResourceFlavor) -> Labels {
    flavor
        .node_labels
        .iter()
        .filter_map(|entry| Some((entry.key.clone(), entry.node.scalar_text()?)))
        .collect()
}

/// Values of a flavor that a class has no field for: annotation and text.
fn carried_by(flavor: &ResourceFlavor) -> Vec<(&'static str, EcoString)> {
    let spec = |field: &str| flavor.object.spec(field).filter(|node| !node.is_empty());
    let text = |node: &Node, list: bool| {
        if list {
            Some(EcoString::from(node.to_json().to_string()))
        } else {
            node.as_str().map(EcoString::from)
        }
    };
    CARRIED
        .into_iter()
        .filter_map(|(annotation, field, list)| Some((annotation, text(spec(field)?, list)?)))
        .collect()
}

/// Values that a class carries for its flavor: field and value.
///
/// # Errors
/// An annotation is not a JSON list.
fn carried_in(class: &AcceleratorClass) -> Result<Vec<(&'static str, Node)>, Box<Diagnostic>> {
    let mut found = Vec::new();
    for (annotation, field, list) in CARRIED {
        let Some(written) = class.object.annotation(annotation) else { continue };
        let text = written.as_str().unwrap_or_default();
        // The topology is a name; taints and tolerations are lists.
        if !list {
            found.push((field, Node::str(text, written.origin)));
            continue;
        }
        // A list of anything but mappings would make a flavor that Kueue refuses.
        match serde_json::from_str::<Vec<serde_json::Map<String, serde_json::Value>>>(text) {
            Ok(items) => {
                let items = items
                    .into_iter()
                    .map(|item| Node::from_json(&serde_json::Value::Object(item), written.origin));
                found.push((field, Node::list(items, written.origin)));
            }
            Err(error) => {
                return Err(Box::new(
                    Diagnostic::new(
                        Code::InvalidValue,
                        format!("annotation `{annotation}` is no JSON list of {field}: {error}"),
                    )
                    .at(written.origin.span())
                    .object(class.object.id.to_string())
                    .help("write the list as `ome kueue import` does, or delete the annotation"),
                ));
            }
        }
    }
    Ok(found)
}

/// Whether the values that a class carries equal those of the flavor. A class written by hand
/// without such values is not compared.
fn carries_the_same(
    class: &AcceleratorClass,
    carried: &[(&'static str, Node)],
    flavor: &ResourceFlavor,
) -> bool {
    // Its author left taints to the flavor.
    if carried.is_empty() && !is_auto_discovered(&class.object) {
        return true;
    }
    CARRIED.into_iter().all(|(_, field, _)| {
        let spec = flavor.object.spec(field).filter(|node| !node.is_empty());
        spec == carried
            .iter()
            .find(|(carried, _)| *carried == field)
            .map(|(_, node)| node)
            .filter(|node| !node.is_empty())
    })
}

/// The finding for a class and a flavor that differ.
fn conflict(
    class: &AcceleratorClass,
    flavor: &ResourceFlavor,
    why: &str,
    help: &str,
) -> Diagnostic {
    Diagnostic::new(
        Code::KueueConflict,
        format!("class `{}` and flavor `{}` disagree: {why}", class.name(), flavor.name()),
    )
    .at(class.object.name_span())
    .label(flavor.object.name_span(), "the flavor")
    .object(class.object.id.to_string())
    .object(flavor.object.id.to_string())
    .help(help)
}

/// The finding for a class that labels cannot describe.
fn not_expressible(class: &AcceleratorClass, obstacles: &[Obstacle]) -> Diagnostic {
    let texts: Vec<&str> = obstacles.iter().map(|obstacle| obstacle.text.as_str()).collect();
    Diagnostic::new(
        Code::NotExpressible,
        format!("class `{}` is not expressible as nodeLabels: {}", class.name(), texts.join(", ")),
    )
    .at(obstacles
        .first()
        .and_then(|obstacle| obstacle.origin.span())
        .or_else(|| Some(class.object.name_span())))
    .object(class.object.id.to_string())
    .help("a flavor has one value per key and no operators: write `In` with one value")
}
