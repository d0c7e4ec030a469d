//! Accelerator classes, requirements of runtimes and selectors of services (OEP-0003), by the
//! documents.

use super::classes_of_user;
use crate::api::{AcceleratorClass, Api, Field, Figure, Object, Semantics, Service};
use crate::check::{View, about};
use crate::cluster::class_product;
use crate::diag::{Code, Diagnostic, nearest, step_to_load};
use crate::facts;
use crate::operators::ome::accelerators::condition;
use crate::quantity::glob;
use crate::yaml::{Node, Origin};
use ecow::EcoString;

/// Capability keys of both shapes, the shipped and the proposed one.
const CAPABILITIES: [&str; 10] = [
    "memoryGB",
    "computeCapability",
    "minComputeCapability",
    "requiredFeatures",
    "clockSpeedMHz",
    "memoryBandwidthGBps",
    "features",
    "performance",
    "rocmVersion",
    "levelZeroVersion",
];
/// Prefixes of keys that vendors may add (OEP-0003, Risks and Mitigations).
const VENDOR_PREFIXES: [&str; 5] = ["amd", "nvidia", "intel", "rocm", "levelZero"];

fn place(origin: Origin, finding: Diagnostic) -> Diagnostic {
    finding.at(origin.span())
}

/// Checks how classes discover their nodes.
pub(crate) fn discovery(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for class in classes_of_user(view) {
        let object = &class.object;
        if let Some(alias) = object.spec("nodeSelector") {
            let finding = about(
                Code::FieldAlias,
                object,
                "`spec.nodeSelector` was read as `spec.discovery.nodeSelector`",
            )
            .help("write `discovery.nodeSelector`");
            found.push(place(alias.origin, finding));
        }
        let discovery = &class.discovery;
        let silent = discovery.node_selector.as_ref().is_none_or(Node::is_empty)
            && discovery.terms.is_none()
            && discovery.affinity.is_none();
        if silent
            && discovery.pci_vendor.is_none()
            && discovery.device_ids.is_empty()
            // A class without any discovery has the finding of its schema.
            && let Some(written) = object.spec("discovery")
        {
            let finding = about(
                Code::MatchesEveryNode,
                object,
                format!(
                    "class `{}` has no node labels or selector and matches every node",
                    class.name()
                ),
            );
            found.push(place(
                written.origin,
                finding.help("write `nodeSelector` or `nodeSelectorTerms`"),
            ));
        }
        let hex = |id: &str| id.len() == 4 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        for id in
            discovery.pci_vendor.iter().chain(&discovery.device_ids).filter(|id| !hex(&id.value))
        {
            found.push(place(
                id.origin,
                about(
                    Code::InvalidPciId,
                    object,
                    format!("`{}` is not four hexadecimal digits", id.value),
                )
                .help("write it without `0x`, such as `10de`"),
            ));
        }
        if let (Some(id), Some(vendor)) = (&discovery.pci_vendor, &class.vendor)
            && let Some((_, owner)) =
                facts::PCI_VENDORS.iter().find(|(fact, _)| fact.eq_ignore_ascii_case(&id.value))
            && !vendor.value.eq_ignore_ascii_case(owner)
        {
            found.push(place(
                id.origin,
                about(
                    Code::PciVendorMismatch,
                    object,
                    format!("PCI vendor {} is {owner}, the class has {}", id.value, vendor.value),
                )
                .help("correct one of the two"),
            ));
        }
        let terms = discovery
            .terms
            .iter()
            .flat_map(Node::items)
            .filter_map(|term| term.get("matchExpressions"))
            .flat_map(Node::items);
        for expression in terms {
            let text =
                |key: &str| expression.get(key).and_then(Node::scalar_text).unwrap_or_default();
            let operator = text("operator");
            let bound = expression.texts("values").next().unwrap_or_default();
            let compares = matches!(operator.as_str(), "Gt" | "Lt");
            // The spellings of OEP-0003, which Kubernetes has never had.
            let foreign = matches!(operator.as_str(), "Gte" | "Ge" | "Lte" | "Le");
            // Gt and Lt of Kubernetes compare whole numbers only.
            if foreign || (compares && bound.parse::<i64>().is_err()) {
                let origin = expression
                    .get(if foreign { "operator" } else { "values" })
                    .map_or(expression.origin, |node| node.origin);
                let finding = about(
                    Code::OperatorNotKubernetes,
                    object,
                    format!("Kubernetes has no `{operator} {bound}` for {}", text("key")),
                );
                found.push(place(
                    origin,
                    finding.help("write Gt or Lt and a whole number; the output has them already"),
                ));
            }
        }
    }
}

/// Checks the capabilities that a class or a minimum sets: memory without a unit, unknown keys.
fn stated(object: &Object, node: &Node, found: &mut Vec<Diagnostic>) {
    if let Some(memory) = node.get("memoryGB")
        && let Some(text) = memory.scalar_text()
        // Above the limit a number without a unit is plausibly one of bytes.
        && text.parse::<f64>().is_ok_and(|number| (0.0..4096.0).contains(&number))
    {
        found.push(place(
            memory.origin,
            about(
                Code::UnitlessMemory,
                object,
                format!("memoryGB {text} has no unit and was read as GiB"),
            )
            .help(format!("write `{text}Gi`")),
        ));
    }
    for entry in node.entries().filter(|entry| {
        !CAPABILITIES.contains(&entry.key.as_str())
            && !VENDOR_PREFIXES.iter().any(|prefix| entry.key.starts_with(prefix))
    }) {
        let hint = nearest(&entry.key, CAPABILITIES).map_or_else(
            || "prefix it with its vendor".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        found.push(place(
            entry.key_origin,
            about(Code::UnknownCapability, object, format!("unknown capability `{}`", entry.key))
                .help(hint),
        ));
    }
}

/// Checks minimums of runtimes and services.
pub(crate) fn minimums(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    if view.catalog.readings().mode(Api::Ome) != Semantics::Documented {
        return;
    }
    let runtimes = view.catalog.all_runtimes().map(|runtime| {
        (&runtime.object, ["spec", "acceleratorRequirements", "requiredCapabilities"])
    });
    let services = view.catalog.services().map(|views| {
        (&views.followed().object, ["spec", "acceleratorSelector", "requiredCapabilities"])
    });
    // Built-in objects are checked by their own tests, and no user can correct them.
    for (object, path) in runtimes.chain(services).filter(|(object, _)| !object.builtin) {
        if let Some(required) = object.node.at(&path) {
            stated(object, required, found);
        }
    }
}

/// Checks capabilities and costs of classes.
pub(crate) fn capabilities(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for class in classes_of_user(view) {
        let object = &class.object;
        let Some(node) = object.spec("capabilities") else { continue };
        for (alias, field) in
            [("minComputeCapability", "computeCapability"), ("requiredFeatures", "features")]
        {
            if let Some(written) = node.get(alias) {
                found.push(place(
                    written.origin,
                    about(Code::FieldAlias, object, format!("`{alias}` was read as `{field}`"))
                        .help(format!("write `{field}`")),
                ));
            }
        }
        stated(object, node, found);
        if let Some(tier) =
            class.cost.as_ref().and_then(|cost| cost.tier.as_ref()).filter(|tier| {
                !matches!(tier.value.to_lowercase().as_str(), "low" | "medium" | "high")
            })
        {
            found.push(place(
                tier.origin,
                about(
                    Code::UnknownTier,
                    object,
                    format!(
                        "tier `{}` is none of low, medium, high and counts as medium",
                        tier.value
                    ),
                ),
            ));
        }
        product(class, found);
    }
}

/// Compares a class with the facts of its product.
fn product(class: &AcceleratorClass, found: &mut Vec<Diagnostic>) {
    let object = &class.object;
    for id in &class.discovery.device_ids {
        let owner = facts::by_device(&id.value);
        // An id is compared with the product that selector, terms or affinity name.
        let named = class_product(class);
        if let (Some(owner), Some(named)) = (owner, named)
            && owner.id != named.id
        {
            found.push(place(
                id.origin,
                about(
                    Code::DeviceIdMismatch,
                    object,
                    format!("device {} is a {}, the class is a {}", id.value, owner.id, named.id),
                )
                .help("delete the id"),
            ));
        }
    }
    let Some(product) = class_product(class) else { return };
    let capabilities = &class.capabilities;
    let dies = product.dies() > 1;
    if let Some(memory) = &capabilities.memory {
        // Boards are sold by their whole memory, which is the usual mistake with two dies.
        if dies && memory.value > product.nominal() {
            let text = format!(
                "one {} is one of the two dies of a board, with {} GiB",
                product.resource, product.nominal_gib
            );
            found.push(place(
                memory.origin,
                about(Code::CountedPerDie, object, text).help("write the figures of one die"),
            ));
        } else if crate::facts::nominal_of(memory.value) != product.nominal() {
            let text = format!(
                "{} has {} GB, the class has {}",
                product.id, product.nominal_gib, capabilities.memory_text
            );
            found.push(place(
                memory.origin,
                about(Code::CatalogueMismatch, object, text)
                    .help("correct the figure, or the product label"),
            ));
        }
    }
    if let Some(version) = capabilities.compute_capability.as_ref().filter(|version| {
        !product.compute_capability.is_empty() && version.value != product.compute_capability
    }) {
        let text = format!(
            "{} has compute capability {}, the class has {}",
            product.id, product.compute_capability, version.value
        );
        found.push(place(version.origin, about(Code::CatalogueMismatch, object, text)));
    }
    if let Some(bandwidth) = capabilities.bandwidth.as_ref().filter(|quantity| {
        !dies
            && product.bandwidth > 0.0
            // Published bandwidths are rounded: within a twentieth the figures are the same.
            && (quantity.value.as_f64() / product.bandwidth - 1.0).abs() > 0.05
    }) {
        let text = format!(
            "{} has {} GB/s, the class has {}",
            product.id,
            product.bandwidth,
            bandwidth.value.canonical()
        );
        found.push(place(
            bandwidth.origin,
            about(Code::CatalogueMismatch, object, text)
                .help("correct the figure, or the product label"),
        ));
    }
    for (figure, value) in &capabilities.performance {
        let dense = product.figure(*figure);
        // Within two hundredths, as data sheets round their figures.
        let near = |wanted: f64| wanted > 0.0 && (value.value - wanted).abs() <= wanted * 0.02;
        // NVIDIA's data sheets list TF32 beside FP32, with and without sparsity.
        if *figure == Figure::Fp32
            && product.vendor == "nvidia"
            && (near(product.fp16 / 2.0) || near(product.fp16))
        {
            let text = format!("fp32 {} is the TF32 figure; fp32 is {}", value.value, product.fp32);
            found.push(place(value.origin, about(Code::Tf32Figure, object, text)));
        } else if !dies && near(dense * 2.0) {
            let text = format!(
                "{} {} is the figure with sparsity; dense it is {dense}",
                figure.proposed_key(),
                value.value
            );
            found.push(place(value.origin, about(Code::SparseFigure, object, text)));
        }
    }
}

/// Reports classes whose product is unknown.
pub(crate) fn unknown_products(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for class in classes_of_user(view).filter(|class| class_product(class).is_none()) {
        found.push(
            about(
                Code::CatalogueUnknown,
                &class.object,
                format!("nothing is known about the product of class `{}`", class.name()),
            )
            .at(class.object.name_span()),
        );
    }
}

fn loaded(view: &View<'_>, name: &str) -> bool {
    // A name may be a glob over classes.
    view.catalog.accelerator_classes().any(|object| glob(name, &object.id.name))
}

fn unknown_class(
    view: &View<'_>,
    object: &Object,
    what: &str,
    name: &Field<EcoString>,
) -> Diagnostic {
    let near = nearest(
        &name.value,
        view.catalog.accelerator_classes().map(|class| class.id.name.as_str()),
    );
    about(
        Code::AcceleratorNotFound,
        object,
        format!("{what} names unknown AcceleratorClass `{}`", name.value),
    )
    .at(name.span())
    .help(near.map_or_else(|| step_to_load("class"), |near| format!("did you mean `{near}`?")))
}

/// Checks lists, preferences and configurations of runtimes, and configurations of services.
pub(crate) fn requirements(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    if view.catalog.readings().mode(Api::Ome) != Semantics::Documented {
        return;
    }
    for runtime in view.catalog.all_runtimes() {
        let object = &runtime.object;
        for name in runtime.accelerators.supported.iter().filter(|name| !loaded(view, &name.value))
        {
            found.push(
                unknown_class(view, object, "supportedClasses", name)
                    .severity(crate::diag::Severity::Warning),
            );
        }
        for entry in &runtime.accelerators.preference {
            if !(0..=100).contains(&entry.score.value) {
                found.push(place(
                    entry.score.origin,
                    about(
                        Code::ScoreRange,
                        object,
                        format!("score {} is outside 0..100", entry.score.value),
                    )
                    .help("use 0 to 100, higher is better"),
                ));
            }
            for condition in &entry.conditions {
                let expression = &condition.expression;
                let finding = match condition::subject(&condition.key) {
                    None => about(Code::UnknownCondition, object, format!("unknown condition `{}`", condition.key))
                        .help("known are modelSize, requestSize, quantization, modelFormat, modelArchitecture, component"),
                    Some(subject) if condition::parse(subject, &expression.value).is_none() => {
                        about(Code::InvalidCondition, object, format!("`{}: {}` is not a condition", condition.key, expression.value))
                            .help("write a comparison such as `<30B`, `>=4096` or `7B-13B`")
                    }
                    Some(_) => continue,
                };
                found.push(place(expression.origin, finding));
            }
        }
        // The spec itself holds configurations for all components.
        let lists = ["spec", "engineConfig", "decoderConfig"]
            .map(|key| if key == "spec" { object.node.get("spec") } else { object.spec(key) });
        lists.into_iter().flatten().for_each(|holder| configurations(view, object, holder, found));
    }
    for views in view.catalog.services() {
        let service: &Service = views.followed();
        service
            .components
            .iter()
            .for_each(|component| configurations(view, &service.object, &component.node, found));
    }
}

fn configurations(view: &View<'_>, object: &Object, holder: &Node, found: &mut Vec<Diagnostic>) {
    for entry in holder.get("acceleratorConfigurations").map(Node::items).unwrap_or_default() {
        match crate::operators::ome::read::accelerator::configuration(entry) {
            None => {
                let finding = about(
                    Code::RequiredField,
                    object,
                    "an entry of acceleratorConfigurations has no `selector`",
                )
                .help("write `selector: {acceleratorClass: NAME}`");
                found.push(place(entry.origin, finding));
            }
            Some(configuration) => {
                for name in configuration.classes.iter().filter(|name| !loaded(view, &name.value)) {
                    found.push(
                        unknown_class(view, object, "the selector of a configuration", name)
                            .severity(crate::diag::Severity::Warning),
                    );
                }
            }
        }
        if let Some(command) = entry.at(&["runner", "command"]) {
            let finding = about(
                Code::CommandInAcceleratorRunner,
                object,
                "a configuration for an accelerator cannot set a command",
            )
            .help("set `runner.args`, or the command of the runtime");
            found.push(place(command.origin, finding));
        }
    }
}

/// Checks strategies and classes that services name, and GPUs of routers.
pub(crate) fn services(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    if view.catalog.readings().mode(Api::Ome) != Semantics::Documented {
        return;
    }
    for views in view.catalog.services() {
        let service = views.followed();
        let wish = &service.accelerators;
        let preferred = wish
            .selector
            .preferred
            .iter()
            .chain(wish.overrides.iter().flat_map(|over| &over.preferred))
            .map(|name| ("preferredClasses", name));
        let annotated = wish.component_annotations.iter().filter_map(|annotations| {
            Some(("the annotation of a component", annotations.class.as_ref()?))
        });
        for (what, name) in
            preferred.chain(annotated).filter(|(_, name)| !loaded(view, &name.value))
        {
            found.push(unknown_class(view, &service.object, what, name));
        }
        if let Some(router) = service.component(crate::api::ComponentKind::Router) {
            router_gpus(&service.object, router, found);
        }
    }
    for runtime in view.catalog.all_runtimes() {
        if let Some(router) = runtime.config(crate::api::ComponentKind::Router) {
            router_gpus(&runtime.object, router, found);
        }
    }
}

/// Accelerators that a router requests: in its containers, or in the short form (OEP-0003, Story 5;
/// docs/decisions.md#field-spellings).
fn router_gpus(object: &Object, router: &Node, found: &mut Vec<Diagnostic>) {
    let containers = [Some(router), router.get("runner")]
        .into_iter()
        .flatten()
        .chain(router.get("containers").map(Node::items).unwrap_or_default());
    // The short form has its resources in the router itself.
    for container in containers {
        let sides = ["limits", "requests"].map(|side| container.at(&["resources", side]));
        let mut amounts = sides.into_iter().flatten().flat_map(Node::entries);
        if let Some(entry) = amounts.find(|entry| facts::is_accelerator(&entry.key)) {
            let finding = about(
                Code::RouterRequestsGpu,
                object,
                format!("the router requests {}", entry.key),
            )
            .help("routers run on CPUs: delete the resource");
            found.push(place(entry.key_origin, finding));
        }
    }
}

#[cfg(test)]
mod tests;
