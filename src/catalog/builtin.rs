//! Which objects of the built-in catalog may be chosen, and which of them the input names.
//!
//! In: the frozen objects. Out: the names of candidates, and a finding for each built-in object that
//! the input names without defining it. Built-in objects are knowledge and part of no cluster: a
//! runtime is a candidate of automatic selection only where the input has none of its API, an
//! accelerator class only where the input has none and has a Node that the class describes. What is
//! found in an object that nothing may be given is not reported.

use super::Catalog;
use crate::api::{AcceleratorClass, Object, ObjectRef, PerReading, Scope};
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use ecow::EcoString;
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The built-in accelerator classes that any service may be given.
pub(super) fn candidate_classes(
    classes: &BTreeMap<EcoString, PerReading<AcceleratorClass>>,
    machines: &[Machine],
    all: bool,
) -> BTreeSet<EcoString> {
    let classes = || classes.values().map(|views| &views.documented);
    // The classes of the input describe its cluster: built-in ones would compete with them.
    if !all && classes().any(|class| !class.object.builtin) {
        return BTreeSet::new();
    }
    let is_described = |class: &AcceleratorClass| {
        machines.iter().any(|machine| machines::class_matches(class, machine))
    };
    classes()
        .filter(|class| class.object.builtin && (all || is_described(class)))
        .map(|class| class.name().clone())
        .collect()
}

/// Where the input names a built-in object: what it is, the first place in the order of the
/// catalog, and how many places there are.
type Named<'a> = IndexMap<&'a ObjectRef, (&'static str, Option<Span>, usize)>;

/// The built-in objects that the input names.
fn named<'a>(catalog: &'a Catalog) -> Named<'a> {
    let mut places = Named::new();
    let mut name = |object: Option<&'a Object>, what: &'static str, span: Option<Span>| {
        if let Some(object) = object.filter(|object| object.builtin) {
            places.entry(&object.id).or_insert((what, span, 0)).2 += 1;
        }
    };
    let class = |name: &str| catalog.accelerator_class(name);
    for views in catalog.services() {
        let service = &views.documented;
        if let Some(named) = &service.runtime {
            let runtimes = catalog.runtimes(service.object.api);
            // The same order as in selection: the namespace before the cluster.
            let found = runtimes
                .get(&Scope::Namespace(service.namespace.clone()), &named.name.value)
                .or_else(|| runtimes.get(&Scope::Cluster, &named.name.value));
            name(found.map(|runtime| &runtime.object), "runtime", named.name.span());
        }
        for named in service.accelerators.named_classes() {
            name(class(&named.value), "accelerator class", named.span());
        }
    }
    // Built-in runtimes name built-in classes themselves, which the input does not.
    for runtime in catalog.all_runtimes().filter(|runtime| !runtime.object.builtin) {
        for named in &runtime.accelerators.supported {
            name(class(&named.value), "accelerator class", named.span());
        }
    }
    places
}

/// The built-in objects that a service may be given, by automatic selection or by name.
fn of_use(catalog: &Catalog) -> HashSet<&ObjectRef> {
    let runtimes = catalog.candidate_runtimes().map(|runtime| &runtime.object);
    let classes = catalog.accelerator_classes();
    let classes = classes.filter(|class| catalog.builtin_classes.contains(&class.id.name));
    let candidates = runtimes.chain(classes).filter(|object| object.builtin);
    candidates.map(|object| &object.id).chain(named(catalog).into_keys()).collect()
}

impl Catalog {
    /// Every object that matters: those of the input, and built-in ones that a service may be
    /// given.
    pub fn objects_of_use(&self) -> impl Iterator<Item = &Object> {
        let used = of_use(self);
        self.objects().filter(move |object| !object.builtin || used.contains(&object.id))
    }
}

/// The findings in built-in objects that count: those of objects that a service may be given, by
/// automatic selection or by name. Objects with the same finding share one.
pub(super) fn in_use(catalog: &Catalog, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if found.is_empty() {
        return found;
    }
    let used = of_use(catalog);
    // In the order of the findings, which the output keeps.
    let mut kept: IndexMap<(Code, Option<String>, String), (Diagnostic, usize)> = IndexMap::new();
    for finding in found {
        let owner = finding.span().and_then(|span| catalog.owner(span));
        if owner.is_some_and(|(_, id)| used.contains(id)) {
            let key = (finding.code, finding.path.clone(), finding.message.clone());
            kept.entry(key).or_insert((finding, 0)).1 += 1;
        }
    }
    let counted = kept.into_values().map(|(mut finding, count)| {
        if count > 1 {
            finding.message = format!("{} ({count} built-in objects)", finding.message);
        }
        finding
    });
    counted.collect()
}

/// One finding for each built-in object that the input names.
pub(super) fn used(catalog: &Catalog) -> impl Iterator<Item = Diagnostic> {
    named(catalog).into_iter().map(|(id, (what, span, count))| {
        let more = if count > 1 { format!(" ({count} places)") } else { String::new() };
        Diagnostic::new(
            Code::BuiltInUsed,
            format!("the input names {id} and does not define it: the built-in {what} is used{more}"),
        )
        .at(span)
        .object(id.to_string())
        .help("read the object that is installed with `-f`, or leave built-in ones out with `--builtin never`")
    })
}
