//! Rules about models, and about the values by which models and runtimes are matched.

use crate::api::{Api, Field, FormatEntry, NamedVersion, Object};
use crate::check::{View, about};
use crate::diag::{Code, Diagnostic, nearest};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// Quantization schemes the documents name (OME docs, Serving Runtime, Core Configuration).
const QUANTIZATIONS: [&str; 3] = ["fp8", "fbgemm_fp8", "int4"];

/// A model without a format matches no runtime offline.
pub(crate) fn incomplete(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for model in view.catalog.models().filter(|model| model.format.is_none()) {
        found.push(
            about(
                Code::ModelIncomplete,
                &model.object,
                format!(
                    "model `{}` does not set modelFormat.name, so no runtime can be selected",
                    model.object.id.name
                ),
            )
            .at(model.object.name_span())
            .path("spec.modelFormat.name")
            .maybe_help(model.remedy()),
        );
    }
}

/// Quantization schemes that the documents do not name.
pub(crate) fn quantization(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let mut look = |object: &Object, quantization: Option<&Field<EcoString>>, path: &str| {
        let Some(field) =
            quantization.filter(|field| !QUANTIZATIONS.contains(&field.value.as_str()))
        else {
            return;
        };
        let name = format!("the documents name {}", QUANTIZATIONS.join(", "));
        let help = nearest(&field.value, QUANTIZATIONS).map_or_else(
            || format!("nothing, if models and runtimes use the same name: {name}"),
            |near| format!("did you mean `{near}`? {name}"),
        );
        found.push(
            about(
                Code::UnknownQuantization,
                object,
                format!("quantization `{}` is none of the known schemes", field.value),
            )
            .at(field.span())
            .path(path)
            .help(help),
        );
    };
    for model in view.catalog.models() {
        look(&model.object, model.quantization.as_ref(), "spec.quantization");
    }
    for runtime in view.catalog.all_runtimes().filter(|runtime| runtime.object.api == Api::Ome) {
        for entry in &runtime.formats {
            look(
                &runtime.object,
                entry.quantization.as_ref(),
                "spec.supportedModelFormats[].quantization",
            );
        }
    }
}

/// The objects that contain a name, and every occurrence of it.
type Uses<'a> = (BTreeSet<String>, Vec<(&'a Object, Field<EcoString>)>);

/// A framework name that only one object uses and that is similar to a name in others.
pub(crate) fn similar_names<'a>(view: &View<'a>, found: &mut Vec<Diagnostic>) {
    let framework = |named: Option<&NamedVersion>| named.map(|named| named.name.clone());
    let mut uses: BTreeMap<EcoString, Uses<'a>> = BTreeMap::new();
    let mut count = |object: &'a Object, name: Field<EcoString>| {
        let (objects, places) = uses.entry(name.value.clone()).or_default();
        objects.insert(object.id.to_string());
        places.push((object, name));
    };
    for model in view.catalog.models() {
        if let Some(name) = framework(model.framework.as_ref()) {
            count(&model.object, name);
        }
    }
    for runtime in view.catalog.all_runtimes().filter(|runtime| runtime.object.api == Api::Ome) {
        for name in runtime
            .formats
            .iter()
            .filter_map(|entry: &FormatEntry| framework(entry.framework.as_ref()))
        {
            count(&runtime.object, name);
        }
    }
    // A name that several objects use is not a misspelling in one of them.
    for (name, (objects, places)) in uses.iter().filter(|(_, (objects, _))| objects.len() == 1) {
        let others =
            // Only a name that more objects use is offered: of two, each would be proposed for the
            // other.
            uses.iter().filter(|(other, (users, _))| *other != name && users.len() > objects.len());
        let Some(near) = nearest(name, others.map(|(other, _)| other.as_str())) else { continue };
        let users = uses.get(near).map_or(0, |(users, _)| users.len());
        for (object, field) in places {
            found.push(
                about(
                    Code::SimilarName,
                    object,
                    format!("no other object uses the framework `{name}`"),
                )
                .at(field.span())
                .path("modelFramework.name")
                .help(format!(
                    "did you mean `{near}` (used by {users} objects)? names are compared exactly"
                )),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::api::Semantics::Documented;
    use crate::check::fixture::{codes, model, run, runtime};

    #[test]
    fn unknown_quantizations_of_models_and_runtimes_are_reported() {
        // OME docs, Serving Runtime, Core Configuration.
        let entry = |quantization: &str| {
            format!(
                "  supportedModelFormats:\n  - {{modelFormat: {{name: s}}, quantization: {quantization}}}\n"
            )
        };
        let text = format!(
            "{}---\n{}---\n{}",
            runtime("a", &entry("awq")),
            runtime("b", &entry("fp8")),
            model("m", "  modelFormat: {name: s}\n  quantization: gptq\n")
        );
        let found = run(&text, Documented);
        assert_eq!(codes(&found).iter().filter(|code| **code == "unknown-quantization").count(), 2);
    }

    #[test]
    fn a_rare_name_similar_to_a_common_one_gets_a_suggestion() {
        // OME docs, Serving Runtime, Core Configuration; docs/decisions.md#spelling-of-names.
        let entry = |framework: &str| {
            format!(
                "  supportedModelFormats:\n  - {{modelFormat: {{name: s}}, modelFramework: {{name: {framework}}}}}\n"
            )
        };
        let text = format!(
            "{}---\n{}---\n{}",
            runtime("a", &entry("transformers")),
            runtime("b", &entry("transformers")),
            runtime("c", &entry("transformer"))
        );
        let found = run(&text, Documented);
        let help: Vec<_> = found
            .iter()
            .filter(|finding| finding.code.as_str() == "similar-name")
            .filter_map(|finding| finding.help.clone())
            .collect();
        assert_eq!(
            help,
            ["did you mean `transformers` (used by 2 objects)? names are compared exactly"]
        );
    }

    #[test]
    fn a_model_without_a_format_is_incomplete() {
        assert_eq!(
            codes(&run(&model("m", "  modelParameterSize: 7B\n"), Documented)),
            ["model-incomplete"]
        );
    }
}
