//! Helm values as classes: one class per entry, with its variants in one list (OEP-0003, Deployment
//! Strategies; docs/decisions.md#class-templates).
//!
//! Values set the model, its memory and its variants; labels and all other capabilities come from
//! the facts about products. A class for several products has the capabilities that all of them
//! have.

use super::World;
use super::group::class_name;
use crate::api::{Api, Figure, Object, ObjectRef, Scope, Semantics};
use crate::cluster::Machine;
use crate::diag::{Code, Diagnostic, nearest};
use crate::exchange::class::{Draft, Evidence, PROPOSED};
use crate::facts::{self, PRODUCTS, Product};
use crate::operators::ome::read::accelerator::{accelerator_class, memory};
use crate::quantity::Memory;
use crate::source::Span;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// The key that holds classes by vendor.
const CLASSES: &str = "acceleratorClasses";

/// The classes of a file of values, with their locations.
pub(super) fn drafts(values: &Node, found: &mut Vec<Diagnostic>) -> Vec<(Draft, Option<Span>)> {
    let Some(vendors) = values.get(CLASSES) else {
        found.push(
            Diagnostic::new(Code::RequiredField, format!("the values have no `{CLASSES}`"))
                .at(values.origin.span())
                .path(CLASSES)
                .help("write `acceleratorClasses: {nvidia: [{model: h100, memory: 80Gi, variants: [SXM5]}]}`"),
        );
        return Vec::new();
    };
    if vendors.as_map().is_none() {
        found.push(wrong_type(vendors, CLASSES, "a mapping of vendors"));
    }
    // Classes come out by name, in whatever order the values list them.
    let mut drafts: BTreeMap<EcoString, (Draft, Option<Span>)> = BTreeMap::new();
    for vendor in vendors.entries() {
        // A vendor without a value has no models, which is no fault.
        if !vendor.node.is_null()
            && vendor.node.items().is_empty()
            && !matches!(vendor.node.value, crate::yaml::Value::List(_))
        {
            found.push(wrong_type(
                &vendor.node,
                &format!("{CLASSES}.{}", vendor.key),
                "a list of models",
            ));
        }
        for (index, entry) in vendor.node.items().iter().enumerate() {
            let path = format!("{CLASSES}.{}[{index}]", vendor.key);
            // Vendors are lower case in the facts about products.
            let Some(entry) = Entry::read(&vendor.key.to_lowercase(), entry, &path, found) else {
                continue;
            };
            let mut draft = entry.draft(found);
            if drafts.contains_key(&draft.name) {
                // Without a variant, the name has no size; with a second size, it needs one.
                draft.name = entry.name(true);
            }
            if drafts.contains_key(&draft.name) {
                found.push(
                    Diagnostic::new(
                        Code::DuplicateObject,
                        format!("two entries make the class `{}`", draft.name),
                    )
                    .at(entry.node.origin.span())
                    .path(path)
                    .help("merge the two, or delete one"),
                );
                continue;
            }
            drafts.insert(draft.name.clone(), (draft, entry.node.origin.span()));
        }
    }
    drafts.into_values().collect()
}

fn wrong_type(node: &Node, path: &str, wanted: &str) -> Diagnostic {
    Diagnostic::new(Code::InvalidType, format!("`{path}` is {}, not {wanted}", node.kind_name()))
        .at(node.origin.span())
        .path(path)
}

/// One entry as it is written.
struct Entry<'n> {
    node: &'n Node,
    vendor: EcoString,
    model: EcoString,
    model_span: Option<Span>,
    /// With its location; `None` if the facts determine it.
    memory: Option<(Memory, Option<Span>)>,
    variants: Vec<(EcoString, Option<Span>)>,
}

impl<'n> Entry<'n> {
    /// Reads an entry; `None`, with a finding, if it cannot be used.
    fn read(vendor: &str, node: &'n Node, path: &str, found: &mut Vec<Diagnostic>) -> Option<Self> {
        if node.as_map().is_none() {
            found.push(wrong_type(node, path, "a mapping with `model` and `memory`"));
            return None;
        }
        for entry in node
            .entries()
            .filter(|entry| !matches!(entry.key.as_str(), "model" | "memory" | "variants"))
        {
            let help = nearest(&entry.key, ["model", "memory", "variants"]).map_or_else(
                || "known are model, memory, variants".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            found.push(
                Diagnostic::new(
                    Code::UnknownField,
                    format!("`{}` of an AcceleratorClass is not supported", entry.key),
                )
                .at(entry.key_origin.span())
                .path(path)
                .help(help),
            );
        }
        let Some(model) = node.get("model").and_then(|model| {
            Some((model.scalar_text().filter(|text| !text.is_empty())?, model.origin.span()))
        }) else {
            found.push(
                Diagnostic::new(Code::RequiredField, format!("`{path}` names no model"))
                    .at(node.origin.span())
                    .path(format!("{path}.model"))
                    .help("write `model: h100`"),
            );
            return None;
        };
        let size = match node.get("memory") {
            None => None,
            Some(written) => {
                let text = written.scalar_text().unwrap_or_default();
                let Some(size) = memory(&text, Semantics::Documented).filter(|size| size.0 > 0)
                else {
                    let message = format!("`{text}` is no amount of memory");
                    found.push(
                        Diagnostic::new(Code::InvalidQuantity, message)
                            .at(written.origin.span())
                            .path(format!("{path}.memory"))
                            .help("write a quantity such as `80Gi`"),
                    );
                    return None;
                };
                // A larger number without a unit is read as bytes: no device has 4096 GiB.
                if text.parse::<f64>().is_ok_and(|number| number < 4096.0) {
                    found.push(
                        Diagnostic::new(
                            Code::UnitlessMemory,
                            format!("memory {text} has no unit and was read as GiB"),
                        )
                        .at(written.origin.span())
                        .help(format!("write `{text}Gi`")),
                    );
                }
                Some((size, written.origin.span()))
            }
        };
        let variants = node.get("variants");
        if let Some(variants) =
            variants.filter(|variants| !matches!(variants.value, crate::yaml::Value::List(_)))
        {
            found.push(wrong_type(
                variants,
                &format!("{path}.variants"),
                "a list such as `[SXM5, PCIE]`",
            ));
        }
        let variants = variants.map(Node::items).unwrap_or_default().iter();
        Some(Self {
            node,
            vendor: vendor.into(),
            model: model.0,
            model_span: model.1,
            memory: size,
            variants: variants
                .filter_map(|variant| Some((variant.scalar_text()?, variant.origin.span())))
                .collect(),
        })
    }

    /// `VENDOR-MODEL`; if `sized` is set, with the size of the entry.
    fn name(&self, sized: bool) -> EcoString {
        match &self.memory {
            Some((memory, _)) if sized => {
                class_name(&self.vendor, &format!("{}-{}gb", self.model, memory.gib_rounded_up()))
            }
            _ => class_name(&self.vendor, &self.model),
        }
    }

    /// Products of its model and size.
    fn products(&self) -> Vec<&'static Product> {
        let model = class_name("", &self.model);
        let model = model.trim_start_matches('-');
        let of_size = |product: &&Product| {
            self.memory.is_none_or(|(memory, _)| {
                // Boards of two dies are sold with the memory of both.
                memory == product.nominal()
                    || memory == product.nominal().saturating_mul(product.dies())
            })
        };
        facts::by_model(&self.vendor, model).filter(of_size).collect()
    }

    fn at(&self) -> Evidence {
        self.model_span.map_or(Evidence::Always, Evidence::Values)
    }

    fn draft(&self, found: &mut Vec<Diagnostic>) -> Draft {
        let mut draft = Draft::new(self.name(!self.variants.is_empty()));
        let products = self.products();
        if products.is_empty() {
            self.unknown(found);
        }
        // The label of each variant, in the order of the values; without variants, all labels.
        let mut labels: Vec<(&'static str, &'static Product)> = Vec::new();
        for (variant, span) in &self.variants {
            let built = products
                .iter()
                .flat_map(|product| product.current_labels().map(move |label| (label, *product)));
            let built: Vec<_> = built
                .filter(|(label, _)| {
                    facts::form_of(label).is_some_and(|form| form.eq_ignore_ascii_case(variant))
                })
                .collect();
            if built.is_empty() && !products.is_empty() {
                found.push(
                    Diagnostic::new(
                        Code::UnknownModel,
                        format!(
                            "nothing is known about the variant `{variant}` of {} {}",
                            self.vendor, self.model
                        ),
                    )
                    .at(*span)
                    .help("write the class by hand, or load nodes that have the product"),
                );
            }
            labels.extend(built);
        }
        if self.variants.is_empty() {
            labels.extend(
                products.iter().flat_map(|product| {
                    product.current_labels().map(move |label| (label, *product))
                }),
            );
        }
        let mut products: Vec<&'static Product> = if labels.is_empty() {
            products
        } else {
            labels.iter().map(|(_, product)| *product).collect()
        };
        products.sort_by_key(|product| product.id);
        products.dedup_by_key(|product| product.id);
        draft.text(&["spec", "vendor"], self.vendor.clone(), self.at());
        // Of an unknown size the family is still that of the model.
        let family = products
            .first()
            .map(|product| product.family)
            .or_else(|| Some(facts::by_model(&self.vendor, &self.model).next()?.family));
        if let Some(family) = family {
            draft.text(
                &["spec", "family"],
                family,
                products
                    .first()
                    .map_or_else(|| self.at(), |product| Evidence::Catalogue(product.id)),
            );
        }
        draft.text(&["spec", "model"], self.model.to_lowercase(), self.at());
        self.matcher(&labels, &products, &mut draft);
        self.capabilities(&products, &mut draft, found);
        if let Some(product) = products.first() {
            draft.resource(product.resource, Evidence::Catalogue(product.id));
        // A class without a resource could not be requested by any pod.
        } else if let Some(product) = PRODUCTS.iter().find(|product| product.vendor == self.vendor)
        {
            // Each vendor uses one resource for all its products.
            draft.resource(product.resource, Evidence::Follows("spec.vendor".into()));
        }
        draft.sort();
        draft
    }

    fn unknown(&self, found: &mut Vec<Diagnostic>) {
        let others: Vec<String> = facts::by_model(&self.vendor, &self.model)
            .map(|product| product.nominal().to_string())
            .collect();
        // The model is known, so that its size is what is wrong.
        if let (false, Some((memory, span))) = (others.is_empty(), &self.memory) {
            found.push(
                Diagnostic::new(
                    Code::CatalogueMismatch,
                    format!(
                        "no {} {} of {memory} is known, only of {}",
                        self.vendor,
                        self.model,
                        others.join(", ")
                    ),
                )
                .at(*span)
                .help("correct the size, or write the class by hand"),
            );
            return;
        }
        let near = nearest(
            &self.model,
            PRODUCTS
                .iter()
                .filter(|product| product.vendor == self.vendor)
                .map(|product| product.model),
        );
        found.push(
            Diagnostic::new(
                Code::UnknownModel,
                format!("nothing is known about {} {}: the class has its memory only, and the model as its label", self.vendor, self.model),
            )
            .at(self.model_span)
            .help(near.map_or_else(
                || "write into `nodeSelector` what the nodes are labeled with".to_owned(),
                |near| format!("did you mean `{near}`? Else write into `nodeSelector` what the nodes are labeled with"),
            )),
        );
    }

    /// One list of labels per key; devices without labels are selected by their PCI ids.
    fn matcher(
        &self,
        labels: &[(&'static str, &'static Product)],
        products: &[&'static Product],
        draft: &mut Draft,
    ) {
        const DISCOVERY: [&str; 2] = ["spec", "discovery"];
        let field = |name: &'static str| [DISCOVERY[0], DISCOVERY[1], name];
        let mut lists: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
        for (label, _) in labels {
            let Some(key) = label_key(&self.vendor, label) else { continue };
            match lists.iter_mut().find(|(list, _)| *list == key) {
                // Variants may share a label.
                Some((_, values)) if values.contains(label) => {}
                Some((_, values)) => values.push(label),
                None => lists.push((key, vec![label])),
            }
        }
        if !lists.is_empty() {
            let terms = lists.into_iter().map(|(key, values)| serde_json::json!({"matchExpressions": [{"key": key, "operator": "In", "values": values}]}));
            let terms = Node::from_json(&terms.collect(), Origin::Derived(&PROPOSED));
            let evidence = labels
                .first()
                .map_or(Evidence::Always, |(_, product)| Evidence::Catalogue(product.id));
            draft.say(&field("nodeSelectorTerms"), terms, evidence);
        } else if let Some(product) = products.first()
            && let Some((id, _)) = facts::PCI_VENDORS.iter().find(|(id, vendor)| {
                // Intel has two PCI ids: Gaudi devices still have that of Habana.
                *vendor == product.vendor && (product.family == "gaudi") == (*id == "1da3")
            })
            && !product.device_ids.is_empty()
        {
            draft.text(&field("pciVendorID"), *id, Evidence::Catalogue(product.id));
            let ids: Vec<EcoString> = products
                .iter()
                .flat_map(|product| product.device_ids)
                .map(|id| EcoString::from(*id))
                .collect();
            draft.texts(&field("deviceIDs"), &ids, Evidence::Catalogue(product.id));
        } else if let Some(key) = label_key(&self.vendor, &self.model) {
            // A class that selects no node until it is corrected is better than one that selects
            // all.
            draft.labels(&field("nodeSelector"), &[(key.into(), self.model.clone())], self.at());
        }
    }

    /// The capabilities that all its products have.
    fn capabilities(
        &self,
        products: &[&'static Product],
        draft: &mut Draft,
        found: &mut Vec<Diagnostic>,
    ) {
        const CAPABILITIES: &str = "capabilities";
        if let Some((memory, span)) = &self.memory {
            draft.text(
                &["spec", CAPABILITIES, "memoryGB"],
                eco_format!("{memory}"),
                span.map_or(Evidence::Always, Evidence::Values),
            );
            if let Some(product) =
                products.iter().find(|product| product.dies() > 1 && *memory > product.nominal())
            {
                found.push(
                    Diagnostic::new(
                        Code::CountedPerDie,
                        format!(
                            "one {} is one of the {} dies of a board, with {} GiB",
                            product.resource,
                            product.dies(),
                            product.nominal_gib
                        ),
                    )
                    .at(*span)
                    .help(format!("write `{}`", product.nominal())),
                );
            }
        }
        let Some(first) = products.first() else { return };
        let least = |value: fn(&Product) -> f64| {
            products
                .iter()
                .min_by(|a, b| value(a).total_cmp(&value(b)))
                .map(|product| (value(product), product.id))
        };
        // What a class promises has to hold on each of its nodes.
        let smallest = products.iter().min_by_key(|product| product.nominal_gib).unwrap_or(first);
        draft.text(
            &["spec", CAPABILITIES, "memoryGB"],
            eco_format!("{}", smallest.nominal()),
            Evidence::Catalogue(smallest.id),
        );
        if !first.compute_capability.is_empty()
            && products.iter().all(|product| product.compute_capability == first.compute_capability)
        {
            draft.text(
                &["spec", CAPABILITIES, "computeCapability"],
                first.compute_capability,
                Evidence::Catalogue(first.id),
            );
        }
        if let Some((bandwidth, id)) =
            least(|product| product.bandwidth).filter(|(bandwidth, _)| *bandwidth > 0.0)
        {
            draft.text(
                &["spec", CAPABILITIES, "memoryBandwidthGBps"],
                eco_format!("{bandwidth}"),
                Evidence::Catalogue(id),
            );
        }
        let features = first
            .features
            .iter()
            .filter(|feature| products.iter().all(|product| product.features.contains(feature)));
        let features: Vec<EcoString> = features.map(|feature| EcoString::from(*feature)).collect();
        if !features.is_empty() {
            draft.texts(
                &["spec", CAPABILITIES, "features"],
                &features,
                Evidence::Catalogue(first.id),
            );
        }
        for figure in Figure::ALL {
            // Where one product has no figure, it is 0 and the class gets none.
            let weakest =
                products.iter().min_by(|a, b| a.figure(figure).total_cmp(&b.figure(figure)));
            if let Some(product) = weakest.filter(|product| product.figure(figure) > 0.0) {
                draft.figure(figure, product.figure(figure), Evidence::Catalogue(product.id));
            }
        }
    }
}

/// The label in which the tools of a vendor name a product.
fn label_key(vendor: &str, label: &str) -> Option<&'static str> {
    match vendor {
        "nvidia" => Some("nvidia.com/gpu.product"),
        "amd" if label.starts_with("AMD_") => Some("amd.com/gpu.product-name"),
        "amd" => Some("amd.com/gpu.product"),
        "intel" => Some("gpu.intel.com/product"),
        "google" => Some("cloud.google.com/gke-tpu-accelerator"),
        _ => None,
    }
}

/// Machines that a class would select if it existed.
pub(super) fn members<'w>(
    object: &Node,
    span: Option<Span>,
    world: &'w World<'_>,
) -> Vec<&'w Machine> {
    // Only an object with a place can be read as a class.
    let Some(span) = span else { return Vec::new() };
    let name = object.at(&["metadata", "name"]).and_then(Node::scalar_text).unwrap_or_default();
    let id = ObjectRef { kind: "AcceleratorClass".into(), scope: Scope::Cluster, name };
    let object = Object {
        api: Api::Ome,
        api_version: "ome.io/v1beta1".into(),
        id,
        node: object.clone(),
        span,
        builtin: false,
        reported: true,
        template: None,
    };
    world.members(&accelerator_class(object, world.options.semantics))
}
