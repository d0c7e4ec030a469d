//! Template variables in containers, and outside them, where they are not expanded (OME docs,
//! Serving Runtime, Multi-Node Configuration).

use super::{View, about};
use crate::api::{ComponentKind, Object};
use crate::diag::{Code, Diagnostic};
use crate::policy::{ExpandedContainers, Policy, TemplateRule};
use crate::template::{
    Error, ErrorKind, Metadata, Mode, check_container, expand_container, variables as variables_of,
};
use crate::yaml::{FieldPath, Node, Value};

/// Parts of a component whose runner is expanded.
const PARTS: [&str; 2] = ["leader", "worker"];

/// Reports unknown variables, and variables in places where they are not expanded.
pub(crate) fn variables(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for runtime in view.catalog.all_runtimes() {
        let policy = view.policy(runtime.object.api);
        let mut scan = Scan { policy, object: &runtime.object, found };
        match policy.expanded {
            ExpandedContainers::Engine => {
                scan.spec(&ComponentKind::OME.map(ComponentKind::config_key));
            }
            ExpandedContainers::Named(names) => scan.named(names),
        }
    }
    for views in view.catalog.services() {
        let service = views.followed();
        let policy = view.policy(service.object.api);
        // Where containers have names, composing a service reports its own.
        if policy.expanded == ExpandedContainers::Engine {
            Scan { policy, object: &service.object, found }
                .spec(&ComponentKind::OME.map(ComponentKind::as_str));
        }
    }
}

struct Scan<'s, 'f> {
    policy: &'static Policy,
    object: &'s Object,
    found: &'f mut Vec<Diagnostic>,
}

impl Scan<'_, '_> {
    fn spec(&mut self, components: &[&str]) {
        let Some(spec) = self.object.node.get("spec") else { return };
        let root = FieldPath::root().field("spec");
        for entry in spec.entries() {
            let path = root.field(entry.key.clone());
            if components.contains(&entry.key.as_str()) {
                self.component(&entry.node, &path);
            } else {
                self.outside(&entry.node, &path);
            }
        }
    }

    /// Containers of `spec.containers` with these names; the others stay as they are.
    fn named(&mut self, names: &[&str]) {
        let path = FieldPath::root().field("spec").field("containers");
        let containers = self.object.node.at(&["spec", "containers"]).map(Node::items);
        for (index, container) in containers.unwrap_or_default().iter().enumerate() {
            let name = container.get("name").and_then(Node::as_str);
            if name.is_some_and(|name| names.contains(&name)) {
                self.container(container, &path.index(index));
            }
        }
    }

    fn component(&mut self, node: &Node, path: &FieldPath) {
        for entry in node.entries() {
            let path = path.field(entry.key.clone());
            match entry.key.as_str() {
                "runner" => self.container(&entry.node, &path),
                key if PARTS.contains(&key) => self.component(&entry.node, &path),
                // Without a runner, the first container is the engine (OME docs, Serving Runtime,
                // Engine Configuration).
                "containers" if node.get("runner").is_none() => {
                    for (index, container) in entry.node.items().iter().enumerate() {
                        if index == 0 {
                            self.container(container, &path.index(index));
                        } else {
                            self.outside(container, &path.index(index));
                        }
                    }
                }
                _ => self.outside(&entry.node, &path),
            }
        }
    }

    fn container(&mut self, container: &Node, path: &FieldPath) {
        let errors = match self.policy.template {
            TemplateRule::FieldChains => check_container(container),
            TemplateRule::HtmlTemplate => {
                // The service is unknown here; missing labels and annotations are not errors in Go.
                let nobody = Node::map(container.origin);
                let metadata = Metadata {
                    name: "name",
                    namespace: "namespace",
                    ..Metadata::of_service(&nobody)
                };
                expand_container(container, &metadata, Mode::Controller).err().unwrap_or_default()
            }
        };
        for error in errors {
            self.refuse(&error, path);
        }
    }

    fn refuse(&mut self, error: &Error, path: &FieldPath) {
        let (code, help) = match error.kind {
            ErrorKind::UnknownVariable => (
                Code::UnknownVariable,
                "use `{{.Name}}`, `{{.Namespace}}`, `{{.Labels.KEY}}` or `{{.Annotations.KEY}}`",
            ),
            // The label may be on the service, and a value known only in the cluster is not an
            // error in a file.
            ErrorKind::MissingKey | ErrorKind::UnknownAtPlanTime => return,
            ErrorKind::Execution if error.message.contains("can't evaluate field") => (
                Code::UnknownVariable,
                "use `{{.Name}}`, `{{.Namespace}}`, `{{.Labels.KEY}}` or `{{.Annotations.KEY}}`",
            ),
            ErrorKind::Syntax
            | ErrorKind::Execution
            | ErrorKind::Result
            | ErrorKind::Unsupported => {
                (Code::TemplateInvalid, "use field chains such as `{{.Name}}`")
            }
        };
        // The path of the error begins at the container.
        let inner = error.path.to_string();
        let path = if inner.is_empty() { path.to_string() } else { format!("{path}.{inner}") };
        let span = error
            .origin
            .and_then(crate::yaml::Origin::span)
            .or_else(|| Some(self.object.name_span()));
        self.found
            .push(about(code, self.object, error.message.clone()).at(span).path(path).help(help));
    }

    fn outside(&mut self, node: &Node, path: &FieldPath) {
        match &node.value {
            Value::Str(text) => {
                if let Some(variable) = variables_of(text).first() {
                    self.found.push(
                        about(
                            Code::VariableOutsideContainer,
                            self.object,
                            format!(
                                "`{variable}` stays as it is: only the engine container is expanded"
                            ),
                        )
                        .at(node.origin.span())
                        .path(path.to_string())
                        .help("write the value out"),
                    );
                }
            }
            Value::List(items) => items
                .iter()
                .enumerate()
                .for_each(|(index, item)| self.outside(item, &path.index(index))),
            Value::Map(map) => map
                .iter()
                .for_each(|entry| self.outside(&entry.node, &path.field(entry.key.clone()))),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{codes, run, runtime};
    use crate::api::Semantics::{Controller, Documented};

    #[test]
    fn unknown_variables_and_invalid_templates_are_reported() {
        // OME docs, Serving Runtime, Multi-Node Configuration.
        for (engine, expected) in [
            ("{runner: {args: ['{{.Name}} {{ .Labels.team }}']}}", &[][..]),
            (
                "{runner: {args: ['{{.Foo}}', '{{.name}}']}}",
                &["unknown-variable", "unknown-variable"],
            ),
            ("{leader: {runner: {env: [{name: A, value: '{{.Foo}}'}]}}}", &["unknown-variable"]),
            ("{runner: {args: ['{{ if .Name }}x{{ end }}']}}", &["template-invalid"]),
            ("{runner: {}, nodeSelector: {pool: '{{.Name}}'}}", &["variable-outside-container"]),
            ("{runner: {}, containers: [{args: ['{{.Name}}']}]}", &["variable-outside-container"]),
            (
                "{containers: [{args: ['{{.Name}}']}, {args: ['{{.Name}}']}]}",
                &["variable-outside-container"],
            ),
        ] {
            assert_eq!(
                codes(&run(&runtime("a", &format!("  engineConfig: {engine}\n")), Documented)),
                expected,
                "{engine}"
            );
        }
        for (engine, expected) in [
            ("{runner: {args: ['{{.Labels.none}}', '{{ if .Name }}x{{ end }}']}}", &[][..]),
            ("{runner: {args: ['{{.Foo}}']}}", &["unknown-variable"]),
            ("{runner: {args: ['{{']}}", &["template-invalid"]),
        ] {
            assert_eq!(
                codes(&run(&runtime("a", &format!("  engineConfig: {engine}\n")), Controller)),
                expected,
                "{engine}"
            );
        }
    }

    /// KServe expands two containers of a runtime by their names
    /// (pkg/controller/v1beta1/inferenceservice/utils/utils.go, ReplacePlaceholders).
    #[test]
    fn containers_of_a_runtime_that_no_service_uses_are_checked_by_their_names() {
        let of = |name: &str, argument: &str, semantics| {
            let text = format!(
                "apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\nmetadata: {{name: a}}\nspec: {{containers: [{{name: first}}, {{name: {name}, args: ['{argument}']}}]}}\n"
            );
            codes(&run(&text, semantics)).join(" ")
        };
        for (name, argument, documented, controller) in [
            ("kserve-container", "{{.Name}}", "", ""),
            ("kserve-container", "{{.Labels.team}}", "", ""),
            ("kserve-container", "{{.Generation}}", "", ""),
            ("kserve-container", "{{.Foo}}", "unknown-variable", "unknown-variable"),
            ("transformer-container", "{{.Foo}}", "unknown-variable", "unknown-variable"),
            ("kserve-container", "{{.Name", "template-invalid", "template-invalid"),
            ("kserve-container", "{{if .Name}}x{{end}}", "template-invalid", ""),
            ("other", "{{.Foo}}", "", ""),
        ] {
            assert_eq!(of(name, argument, Documented), documented, "{name} {argument}");
            assert_eq!(of(name, argument, Controller), controller, "{name} {argument}");
        }
    }
}
