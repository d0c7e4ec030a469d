//! Accelerator classes in the listing of the catalog.

use crate::api::{AcceleratorClass, Object, Semantics};
use crate::cluster as machines;
use crate::report::catalog::{Item, word};
use crate::report::table::{Style, table as plain_table};
use crate::workspace::World;
use serde_json::{Value, json};

pub(super) fn accelerator_fields(out: &mut Value, object: &Object, world: &World) {
    // A class that is not in the index was not read as one.
    let Some(class) = world.catalog.class(Semantics::Documented, &object.id.name) else { return };
    out["vendor"] = word(class.vendor.as_ref()).into();
    out["family"] = word(class.family.as_ref()).into();
    out["model"] = word(class.model.as_ref()).into();
    out["memory"] = memory(class).into();
    let capabilities = &class.capabilities;
    out["computeCapability"] = word(capabilities.compute_capability.as_ref()).into();
    out["memoryBandwidthGBps"] =
        capabilities.bandwidth.as_ref().map_or(Value::Null, |bandwidth| number(&bandwidth.value));
    out["features"] = capabilities.features.iter().map(|feature| feature.value.as_str()).collect();
    out["resources"] =
        class.whole_resources().map(|resource| resource.name.value.as_str()).collect();
    out["cost"] = class.cost.as_ref().map_or(Value::Null, |cost| {
        let price = |price: &Option<crate::api::Field<crate::quantity::Quantity>>| price.as_ref().map_or(Value::Null, |price| number(&price.value));
        json!({ "perHour": price(&cost.per_hour), "spotPerHour": price(&cost.spot_per_hour), "perMillionTokens": price(&cost.per_million_tokens), "tier": word(cost.tier.as_ref()) })
    });
    out["nodes"] = nodes(class, world).into();
    out["kueueResourceFlavor"] = word(class.kueue_flavor.as_ref()).into();
    out["volcanoGPUType"] = word(class.volcano_gpu_type.as_ref()).into();
}

/// A number; an integer has no fraction.
pub(super) fn number(quantity: &crate::quantity::Quantity) -> Value {
    match quantity.value().filter(|_| quantity.is_integer()) {
        Some(whole) => whole.into(),
        None => quantity.as_f64().into(),
    }
}

/// Memory in the unit of its quantity.
pub(super) fn memory(class: &AcceleratorClass) -> Option<String> {
    class.capabilities.memory.as_ref().map(|memory| memory.value.to_string())
}

/// Number of nodes of a class; `None` if no Node was read.
pub(super) fn nodes(class: &AcceleratorClass, world: &World) -> Option<usize> {
    let machines = world.catalog.machines();
    // Without nodes, 0 would claim that the class is not in the cluster.
    (!machines.is_empty()).then(|| machines::matching(class, machines).len())
}

/// Accelerator classes as a table (OEP-0003, AcceleratorClass).
pub(super) fn accelerator_table(items: &[Item<'_>], world: &World, style: Style) -> String {
    let classes = items
        .iter()
        .filter_map(|item| world.catalog.class(Semantics::Documented, &item.object().id.name));
    let rows = classes.map(|class| {
        let word = |field| word(field).unwrap_or("-").to_owned();
        let price = class
            .cost
            .as_ref()
            .and_then(|cost| cost.per_hour.as_ref())
            .map_or("-".to_owned(), |price| price.value.canonical().to_string());
        vec![
            class.name().to_string(),
            word(class.vendor.as_ref()),
            word(class.family.as_ref()),
            memory(class).unwrap_or_else(|| "-".to_owned()),
            nodes(class, world).map_or("-".to_owned(), |nodes| nodes.to_string()),
            word(class.capabilities.compute_capability.as_ref()),
            price,
            if class.object.builtin { "builtin".to_owned() } else { "user".to_owned() },
            world.sources.locate(class.object.name_span()).to_string(),
        ]
    });
    plain_table(
        &["NAME", "VENDOR", "FAMILY", "MEMORY", "NODES", "COMPUTE", "$/HOUR", "SOURCE", "WHERE"],
        rows,
        style,
    )
}
