//! Which objects of the built-in catalog may be chosen, and which of them the input names.
//!
//! In: the frozen objects. Out: the names of candidates, and a finding for each built-in object that
//! the input names without defining it. Built-in objects are knowledge and part of no cluster: a
//! runtime is a candidate of automatic selection only where the input has none of its API, an
//! accelerator class only where the input has none and has a Node that the class describes.

use super::Catalog;
use crate::api::{AcceleratorClass, Object, Scope};
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use ecow::EcoString;
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// The built-in accelerator classes that any service may be given.
pub(super) fn candidate_classes(
    classes: &BTreeMap<EcoString, [AcceleratorClass; 2]>,
    machines: &[Machine],
    all: bool,
) -> BTreeSet<EcoString> {
    let classes = || classes.values().map(|[documented, _]| documented);
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

/// One finding for each built-in object that the input names, at the first place in the order of
/// the catalog.
pub(super) fn named(catalog: &Catalog) -> impl Iterator<Item = Diagnostic> {
    let mut places: IndexMap<String, (&str, Option<Span>, usize)> = IndexMap::new();
    let mut name = |object: Option<&Object>, what: &'static str, span: Option<Span>| {
        if let Some(object) = object.filter(|object| object.builtin) {
            places.entry(object.id.to_string()).or_insert((what, span, 0)).2 += 1;
        }
    };
    let class = |name: &str| catalog.accelerator_class(name);
    for views in catalog.services() {
        let service = &views.documented;
        if let Some(named) = &service.runtime {
            let runtimes = catalog.runtimes(service.object.api);
            let found = runtimes
                .get(&Scope::Namespace(service.namespace.clone()), &named.name.value)
                .or_else(|| runtimes.get(&Scope::Cluster, &named.name.value));
            name(found.map(|runtime| &runtime.object), "runtime", named.name.span());
        }
        for named in service.accelerators.named_classes() {
            name(class(&named.value), "accelerator class", named.span());
        }
    }
    for runtime in catalog.all_runtimes().filter(|runtime| !runtime.object.builtin) {
        for named in &runtime.accelerators.supported {
            name(class(&named.value), "accelerator class", named.span());
        }
    }
    places.into_iter().map(|(id, (what, span, count))| {
        let more = if count > 1 { format!(" ({count} places)") } else { String::new() };
        Diagnostic::new(
            Code::BuiltInUsed,
            format!("the input names {id} and does not define it: the built-in {what} is used{more}"),
        )
        .at(span)
        .object(id)
        .help("read the object that is installed with `-f`, or leave built-in ones out with `--builtin never`")
    })
}
