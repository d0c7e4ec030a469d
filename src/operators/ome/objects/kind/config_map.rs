//! The model ConfigMap, `v1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/modelconfig/modelconfig_reconciler.go).

use crate::api::Model;
use crate::objects::build::node;
use crate::objects::metadata::{SERVICE_LABEL, label, metadata};
use crate::objects::rules;
use crate::operators::ome::objects::model_config::ModelConfig;
use crate::quantity::go_json::string;
use crate::quantity::hash;
use crate::yaml::{Map, Node, Value};
use ecow::EcoString;

/// The ConfigMap that describes a model to the pods of a service.
pub(crate) fn object(
    service: &EcoString,
    namespace: &Node,
    config: &ModelConfig<'_>,
) -> Option<Node> {
    let labels: Map =
        [label(SERVICE_LABEL, service.clone(), &rules::MODEL_CONFIG)].into_iter().collect();
    node!(&rules::MODEL_CONFIG; {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: (metadata(hash::model_config_name(service), Some(namespace), &labels, &Map::new())),
        data: { "models.json": (models(config)) },
    })
}

/// One entry, as Go's encoding/json writes it.
fn models(config: &ModelConfig<'_>) -> String {
    // Written by hand, because the order of fields is that of Go's structs and no map keeps it.
    let mut out = String::from("[{\"modelName\":");
    string(&mut out, &config.name);
    if let Some(model) = config.model {
        out.push_str(",\"modelSpec\":");
        base_model(&mut out, model);
    }
    if let Some(weight) = config.fine_tuned {
        out.push_str(",\"fineTunedWeightSpec\":");
        let mut fields = Fields::begin(&mut out);
        fields.storage(weight.object.spec("storage"));
        fields.optional("modelType", weight.object.spec("modelType"));
        fields.end();
    }
    out.push_str("}]");
    out
}

fn base_model(out: &mut String, model: &Model) {
    let mut fields = Fields::begin(out);
    fields.storage(model.object.spec("storage"));
    let format = model.object.spec("modelFormat");
    // The only field without `omitempty`: it is there also when it is empty.
    fields.text(
        "modelFormatName",
        format
            .and_then(|format| format.get("name"))
            .and_then(Node::scalar_text)
            .unwrap_or_default()
            .as_str(),
    );
    fields.optional("modelFormatVersion", format.and_then(|format| format.get("version")));
    fields.optional("modelType", model.object.spec("modelType"));
    let framework = model.object.spec("modelFramework");
    fields.optional("modelFrameworkName", framework.and_then(|framework| framework.get("name")));
    fields.optional(
        "modelFrameworkVersion",
        framework.and_then(|framework| framework.get("version")),
    );
    fields.end();
}

/// A JSON object under construction.
struct Fields<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> Fields<'a> {
    fn begin(out: &'a mut String) -> Self {
        out.push('{');
        Self { out, first: true }
    }

    fn key(&mut self, key: &str) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
        string(self.out, key);
        self.out.push(':');
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        string(self.out, value);
    }

    fn optional(&mut self, key: &str, value: Option<&Node>) {
        if let Some(text) = value.and_then(Node::scalar_text) {
            self.text(key, &text);
        }
    }

    fn storage(&mut self, storage: Option<&Node>) {
        let get = |key| storage.and_then(|storage| storage.get(key));
        self.optional("storageUri", get("storageUri"));
        self.optional("path", get("path"));
        self.optional("schemaPath", get("schemaPath"));
        // An empty map is omitted, like an absent one.
        if let Some(Value::Map(parameters)) =
            get("parameters").filter(|node| !node.is_empty()).map(|node| &node.value)
        {
            self.key("parameters");
            // Go's encoder sorts the keys of maps.
            let mut sorted = parameters.clone();
            sorted.sort();
            let mut fields = Fields::begin(self.out);
            for entry in &sorted {
                fields.text(&entry.key, entry.node.scalar_text().unwrap_or_default().as_str());
            }
            fields.end();
        }
        self.optional("storageKey", get("key"));
    }

    fn end(self) {
        self.out.push('}');
    }
}
