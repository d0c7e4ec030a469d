//! Tests of the rules of the documents, the table recorded from Go, and bounds for every text.

mod go;
mod recordings;

use super::error::Failure;
use super::exec::{Flavour, execute};
use super::parse::parse;
use super::value::Root;
use super::*;
use crate::source::{SourceId, Span};
use crate::yaml::{Node, Origin};
use proptest::prelude::*;
use serde_json::Value as Json;

fn at(start: u32) -> Origin {
    Origin::File(Span { source: SourceId(0), start, end: start + 1 })
}

fn service() -> Metadata<'static> {
    Metadata {
        name: "chat",
        namespace: "team-a",
        labels: [("team", "a&b"), ("app.io/x", "y")].into(),
        annotations: [("note", "it's <1+1>"), ("break", "a\nb")].into(),
        ..Metadata::default()
    }
}

fn text(
    template: &str,
    flavour: Flavour,
    name: &'static str,
    root: Root<'_>,
) -> Result<String, Failure> {
    let program = parse(name, template)?;
    execute(&program, flavour, root).map(|output| output.text)
}

#[test]
fn metadata_variables_are_replaced_without_escaping() {
    // OME docs, Serving Runtime, Multi-Node Configuration
    for (template, expected) in [
        ("--served={{.Name}}", Some("--served=chat")),
        ("{{ .Labels.team }}-{{.Namespace}}", Some("a&b-team-a")),
        ("a {{- .Name -}} b", Some("achatb")),
        ("{{.Annotations.note}}", Some("it's <1+1>")),
        ("$(NAME) ${NAME} { {", None),
    ] {
        let expanded = expand_documented(template, &service())
            .unwrap_or_else(|errors| panic!("{template}: {errors:?}"));
        assert_eq!(expanded.as_deref(), expected, "{template}");
    }
}

#[test]
fn unknown_variables_are_errors_with_their_offset() {
    // OME docs, Serving Runtime, Multi-Node Configuration; the third column is true when the error
    // is found without the service.
    for (template, kind, without_service, offset, message) in [
        (
            "--a={{.Foo}}",
            ErrorKind::UnknownVariable,
            true,
            6,
            "`{{.Foo}}` maps to no field of the service's metadata",
        ),
        (
            "{{.name}}",
            ErrorKind::UnknownVariable,
            true,
            2,
            "`{{.name}}` maps to no field of the service's metadata",
        ),
        (
            "{{.Name.X}}",
            ErrorKind::UnknownVariable,
            true,
            2,
            "`{{.Name.X}}` maps to no field of the service's metadata",
        ),
        (
            "{{.Labels.zone}}",
            ErrorKind::MissingKey,
            false,
            2,
            "`{{.Labels.zone}}`: the service has no label `zone`",
        ),
        (
            "{{.Annotations.x}}",
            ErrorKind::MissingKey,
            false,
            2,
            "`{{.Annotations.x}}`: the service has no annotation `x`",
        ),
        ("{{.Labels}}", ErrorKind::Unsupported, true, 2, "`{{.Labels}}` names all labels, not one"),
        (
            "{{.UID}}",
            ErrorKind::UnknownAtPlanTime,
            true,
            2,
            "`{{.UID}}`: `UID` is set by the cluster and unknown before the object is there",
        ),
        (
            "{{index .Labels `team`}}",
            ErrorKind::Unsupported,
            true,
            2,
            "`{{index .Labels `team`}}` is more than a field of the service's metadata",
        ),
        (
            "{{if .Name}}x{{end}}",
            ErrorKind::Unsupported,
            true,
            5,
            "`{{if .Name}}` is more than a field of the service's metadata",
        ),
        (
            "{{.Labels.a-b}}",
            ErrorKind::Syntax,
            true,
            9,
            "`{{.Labels.a-b}}` cannot be read: bad character U+002D '-'",
        ),
        (
            "{{name}}",
            ErrorKind::Syntax,
            true,
            2,
            "`{{name}}` cannot be read: function \"name\" not defined",
        ),
    ] {
        let errors = expand_documented(template, &service()).expect_err(template);
        let seen: Vec<_> =
            errors.iter().map(|error| (error.kind, error.offset, error.message.as_str())).collect();
        assert_eq!(seen, [(kind, offset, message)], "{template}");
        assert_eq!(check_documented(template).len(), usize::from(without_service), "{template}");
    }
    assert_eq!(
        check_documented("{{.Foo}} {{.Name}} {{.bar}}").len(),
        2,
        "every variable is reported"
    );
}

#[test]
fn variables_are_found_and_jinja_expressions_are_ignored() {
    assert_eq!(variables("a-{{ .GPU_TYPE }}-{{.Name}}"), ["{{ .GPU_TYPE }}", "{{.Name}}"]);
    assert_eq!(variables("{{ messages[0]['role'] }}"), [""; 0]);
    assert_eq!(variables("{{if .Name}}x{{end}}"), [""; 0]);
}

#[test]
fn expanded_strings_keep_their_source_location() {
    let args = Node::list(
        [Node::str("--a={{.Name}}", at(2)), Node::str("--b", at(3)), Node::int(7, at(4))],
        at(1),
    );
    let mut container = Node::map(at(0));
    // Not in Go's order: the order of the text must be kept.
    for (key, node) in [
        ("args", args),
        ("image", Node::str("r/{{.Namespace}}:1", at(5))),
        ("name", Node::str("c", at(6))),
    ] {
        container.as_map_mut().unwrap().insert(key, node);
    }
    for mode in [Mode::Documented, Mode::Controller] {
        let expanded = expand_container(&container, &service(), mode).unwrap();
        let expected =
            serde_json::json!({"args": ["--a=chat", "--b", 7], "image": "r/team-a:1", "name": "c"});
        assert_eq!(expanded.to_json(), expected, "{mode:?}");
        assert_eq!(expanded.to_json().to_string(), expected.to_string(), "order, {mode:?}");
        let origins = |keys: &[&str]| {
            expanded.at(keys).and_then(|node| node.origin.span()).map(|span| span.start)
        };
        assert_eq!(
            (origins(&["args"]), origins(&["image"]), origins(&["name"])),
            (Some(1), Some(5), Some(6)),
            "{mode:?}"
        );
        let args: Vec<_> = expanded
            .get("args")
            .unwrap()
            .items()
            .iter()
            .map(|node| node.origin.span().map(|span| span.start))
            .collect();
        assert_eq!(args, [Some(2), Some(3), Some(4)], "{mode:?}");
    }
}

#[test]
fn template_errors_of_a_container_name_the_field() {
    for (json, mode, path, offset, action) in [
        (
            serde_json::json!({"args": ["a", "--é\"={{.Foo}}"]}),
            Mode::Controller,
            "args[1]",
            8,
            "{{.Foo}}",
        ),
        (
            serde_json::json!({"args": ["a", "--é\"={{.Foo}}"]}),
            Mode::Documented,
            "args[1]",
            8,
            "{{.Foo}}",
        ),
        (
            serde_json::json!({"env": [{"name": "N", "value": "{{index .Labels \"x\"}}"}]}),
            Mode::Controller,
            "env[0].value",
            16,
            "{{index .Labels \"x\"}}",
        ),
        (
            serde_json::json!({"args": ["x {{.Annotations.break}}", "{{.Name}}"]}),
            Mode::Controller,
            "args[0]",
            4,
            "{{.Annotations.break}}",
        ),
        (
            serde_json::json!({"args": ["a{{if .Name}}", "x {{.Name}}"]}),
            Mode::Controller,
            "args[0]",
            1,
            "{{if .Name}}",
        ),
    ] {
        let errors =
            expand_container(&Node::from_json(&json, at(0)), &service(), mode).expect_err("fails");
        let seen: Vec<_> = errors
            .iter()
            .map(|error| (error.path.to_string(), error.offset, error.action.as_str()))
            .collect();
        assert_eq!(seen, [(path.to_owned(), offset, action)], "{json} {mode:?} {errors:?}");
    }
    let both = serde_json::json!({"args": ["{{.a}} {{.b}}"], "image": "{{.c}}"});
    assert_eq!(
        expand_container(&Node::from_json(&both, at(0)), &service(), Mode::Documented)
            .expect_err("fails")
            .len(),
        3
    );
    assert_eq!(check_container(&Node::from_json(&both, at(0))).len(), 3);
}

#[test]
fn fields_unknown_at_plan_time_are_refused() {
    for template in [
        "{{.UID}}",
        "{{.CreationTimestamp}}",
        "{{.Generation}}",
        "{{.ManagedFields}}",
        "{{.}}",
        "{{if .ResourceVersion}}x{{end}}",
    ] {
        let container = Node::from_json(&serde_json::json!({"args": [template]}), at(0));
        let errors =
            expand_container(&container, &service(), Mode::Controller).expect_err(template);
        assert_eq!(errors[0].kind, ErrorKind::UnknownAtPlanTime, "{template}");
    }
}

/// Results of `html/template` of Go 1.26 for a decoded `ObjectMeta`.
#[test]
fn known_metadata_fields_are_expanded() {
    let new = serde_json::json!({"metadata": {"name": "n", "namespace": "ns"}});
    let live = serde_json::json!({"metadata": {
        "name": "n", "namespace": "ns", "generateName": "n-", "uid": "u-1", "resourceVersion": "7",
        "generation": 3, "creationTimestamp": "2026-01-31T12:00:05Z", "finalizers": ["a/b"],
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u-2"},
        ],
    }});
    let owned = serde_json::json!({"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u-2", "controller": true},
    ]}});
    for (object, template, expected) in [
        (&new, "{{.Finalizers}}", Some("[inferenceservice.finalizers]")),
        (&new, "{{.OwnerReferences}} {{.DeletionTimestamp}}", Some("[] &lt;nil&gt;")),
        (&new, "{{.SelfLink}}{{.GenerateName}}{{if .OwnerReferences}}x{{end}}", Some("")),
        (&live, "{{.Finalizers}}", Some("[a/b inferenceservice.finalizers]")),
        (&live, "{{.UID}} {{.ResourceVersion}} {{.Generation}}", Some("u-1 7 3")),
        (
            &live,
            "{{.GenerateName}} {{.CreationTimestamp}}",
            Some("n- 2026-01-31 12:00:05 &#43;0000 UTC"),
        ),
        (&live, "{{.OwnerReferences}}", Some("[{v1 ConfigMap c u-2 &lt;nil&gt; &lt;nil&gt;}]")),
        (&live, "{{range $i, $o := .OwnerReferences}}{{$i}}{{$o.Kind}}{{end}}", Some("0ConfigMap")),
        (&owned, "{{(index .OwnerReferences 0).Controller}}", Some("true")),
        (&owned, "{{.OwnerReferences}}", None),
        (&live, r"{{printf `%q` .Finalizers | len}}", Some("37")),
    ] {
        let object = Node::from_json(object, at(0));
        let metadata = Metadata::of_service(&object);
        let seen = text(template, Flavour::Html, "container-tmpl", Root::Metadata(&metadata));
        assert_eq!(seen.ok().as_deref(), expected, "{template}");
    }
}

#[test]
fn metadata_is_read_from_an_object() {
    let json = serde_json::json!({"metadata": {"name": "n", "namespace": "ns", "labels": {"a": "b", "n": 1}}});
    let object = Node::from_json(&json, at(0));
    let metadata = Metadata::of(&object);
    assert_eq!((metadata.name, metadata.namespace, metadata.generate_name), ("n", "ns", ""));
    assert_eq!(metadata.labels, Pairs::from([("a", "b")]));
    assert!(metadata.annotations.is_empty());
}

proptest! {
    /// Template tokens in any order neither panic nor run without bound, in any of the four
    /// functions.
    #[test]
    fn no_text_panics(words in proptest::collection::vec(proptest::sample::select(WORDS.to_vec()), 0..24)) {
        let template: String = words.concat();
        let metadata = service();
        let container = Node::from_json(&serde_json::json!({"args": [template.clone(), "{{.Name}}"], "name": template.clone()}), at(0));
        for mode in [Mode::Documented, Mode::Controller] {
            if let Err(errors) = expand_container(&container, &metadata, mode) {
                prop_assert!(!errors.is_empty() && errors.iter().all(|error| !error.message.is_empty() && error.origin.is_some()));
            }
        }
        let _ = domain(&template, &DomainValues { name: "n", ..DomainValues::default() });
        let _ = path(&template, "n", "ns");
        let _ = text(&template, Flavour::Html, "container-tmpl", Root::Metadata(&metadata));
        variables(&template);
    }
}

const WORDS: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    " ",
    "\n",
    "\"",
    "`",
    "'",
    "\\",
    "\\u",
    "é",
    "🙂",
    ".",
    ".Name",
    ".Labels",
    ".Labels.team",
    "$",
    "$x",
    ":=",
    "=",
    ",",
    "|",
    "(",
    ")",
    "if",
    "range",
    "with",
    "end",
    "else",
    "define",
    "template",
    "block",
    "break",
    "continue",
    "{{end}}",
    "{{else}}",
    "nil",
    "true",
    "0",
    "-1",
    "1.5",
    "0x",
    "1i",
    "/*",
    "*/",
    "index",
    "slice",
    "printf",
    "print",
    "len",
    "eq",
    "and",
    "html",
    "urlquery",
    "js",
    "%s",
    "%5d",
    "<",
    "<a href=",
    "<script>",
    "</script>",
    "<style>",
    "<p title=",
    ">",
    "url(",
    "${",
    "#",
    "&",
    "/",
    ":",
    "a",
    "%zz",
];

#[test]
fn every_executed_action_is_recorded_with_what_it_printed() {
    let labels = [("a", "1"), ("b", "2")].into();
    let metadata = Metadata { name: "otter", labels, ..service() };
    let of = |text: &str| -> Vec<(String, String)> {
        let program = parse("t", text).unwrap();
        let output = execute(&program, Flavour::Text, Root::Metadata(&metadata)).unwrap();
        let actions = output.of_actions(text);
        actions.map(|ran| (ran.action.to_owned(), ran.printed.to_owned())).collect()
    };
    let pairs = |fields: &[(&str, &str)]| -> Vec<(String, String)> {
        fields.iter().map(|(action, value)| ((*action).to_owned(), (*value).to_owned())).collect()
    };
    assert_eq!(of("x {{- .Name -}} y"), pairs(&[(".Name", "otter")]));
    assert_eq!(of("{{`{{ }}`}}z"), pairs(&[("`{{ }}`", "{{ }}")]));
    assert_eq!(
        of("{{if .GenerateName}}no{{else}}{{.Name}}{{end}}"),
        pairs(&[("if .GenerateName", ""), (".Name", "otter")])
    );
    assert_eq!(
        of("{{range $k, $v := .Labels}}{{$v}}{{end}}"),
        pairs(&[("range $k, $v := .Labels", ""), ("$v", "1"), ("$v", "2")])
    );
}
