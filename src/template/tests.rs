//! The rules of the documents, the table recorded from Go, and bounds that hold for every text.

use super::error::Failure;
use super::exec::{Flavour, execute};
use super::parse::parse;
use super::value::Root;
use super::*;
use crate::source::{SourceId, Span};
use crate::yaml::{Node, Origin};
use proptest::prelude::*;
use serde_json::Value as Json;
use std::path::PathBuf;

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
fn variables_of_the_metadata_are_replaced_as_they_are() {
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
fn what_maps_to_nothing_is_an_error_with_string_and_position() {
    // OME docs, Serving Runtime, Multi-Node Configuration; the third column says whether it is
    // known without the service.
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
fn variables_outside_containers_are_found_and_jinja_is_not() {
    assert_eq!(variables("a-{{ .GPU_TYPE }}-{{.Name}}"), ["{{ .GPU_TYPE }}", "{{.Name}}"]);
    assert_eq!(variables("{{ messages[0]['role'] }}"), [""; 0]);
    assert_eq!(variables("{{if .Name}}x{{end}}"), [""; 0]);
}

#[test]
fn changed_strings_keep_their_line_and_the_rest_stays_the_same_node() {
    let args = Node::list(
        [Node::str("--a={{.Name}}", at(2)), Node::str("--b", at(3)), Node::int(7, at(4))],
        at(1),
    );
    let mut container = Node::map(at(0));
    // Not in Go's order: the order of the text must survive.
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
fn failures_of_a_container_name_the_string() {
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
fn what_no_plan_can_know_is_refused() {
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

/// Answers of `html/template` of Go 1.26 about a decoded `ObjectMeta`.
#[test]
fn what_is_certain_or_stated_is_expanded() {
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

#[test]
fn functions_and_loops_do_what_go_does() {
    let values = DomainValues {
        name: "chat",
        namespace: "team-a",
        ingress_domain: "example.com",
        labels: [("team", "a&b")].into(),
        annotations: Pairs::new(),
    };
    for (template, expected) in [
        (
            r#"{{printf "%5s|%-5s|%05s|%.2s|%5.1s" .Name .Name .Name .Name .Name}}"#,
            Ok(" chat|chat |0chat|ch|    c"),
        ),
        (
            r#"{{printf "%q %+q %#q %x % X %#x %# x" `é"` `é"` `a` `é` `é` `ab` `ab`}}"#,
            Ok(r#""é\"" "\u00e9\"" `a` c3a9 C3 A9 0x6162 0x61 0x62"#),
        ),
        (
            r#"{{printf "%d %5d|%-5d|%05d|%+d|% d|%.3d|%06.2d" 7 7 7 -7 7 7 7 7}}"#,
            Ok("7     7|7    |-0007|+7| 7|007|    07"),
        ),
        (
            r#"{{printf "%b %o %#o %O %x %#X %c %q %U %#U" 10 10 10 10 255 255 233 233 233 233}}"#,
            Ok("1010 12 012 0o12 ff 0XFF é 'é' U+00E9 U+00E9 'é'"),
        ),
        (
            r#"{{printf "%v %g %G %.3g %#g %e %.1E %f %8.2f|%+08.1f" 2.5 1e21 1e-7 1234.5 2.5 1500.0 1500.0 2.5 2.5 2.5}}"#,
            Ok("2.5 1e+21 1E-07 1.23e+03 2.50000 1.500000e+03 1.5E+03 2.500000     2.50|+00002.5"),
        ),
        (r#"{{printf "%v %.1f %+v" 2i 2i 2i}}"#, Ok("(0+2i) (0.0+2.0i) (0+2i)")),
        (
            r#"{{printf "%t %6t|%v %d" true false true true}}"#,
            Ok("true  false|true %!d(bool=true)"),
        ),
        (
            r#"{{printf "%v %s %d %T %5v|" nil nil nil nil nil}}"#,
            Ok("<nil> %!s(<nil>) %!d(<nil>) <nil> <nil>|"),
        ),
        (
            r#"{{printf "%v %q %#v %T" .Labels .Labels .Labels .Labels}}"#,
            Ok(
                r#"map[team:a&b] map["team":"a&b"] map[string]string{"team":"a&b"} map[string]string"#,
            ),
        ),
        (
            r#"{{printf "%v %+v %#v %s" . . . .}}"#,
            Ok(
                r#"{chat team-a example.com map[] map[team:a&b]} {Name:chat Namespace:team-a IngressDomain:example.com Annotations:map[] Labels:map[team:a&b]} services.DomainTemplateValues{Name:"chat", Namespace:"team-a", IngressDomain:"example.com", Annotations:map[string]string(nil), Labels:map[string]string{"team":"a&b"}} {chat team-a example.com map[] map[team:a&b]}"#,
            ),
        ),
        (r#"{{printf "%[2]s %[1]s" 1 `a`}}"#, Ok("a %!s(int=1)")),
        (r#"{{printf "%[3]d %[x]d %[1" 1}}"#, Ok("%!d(BADINDEX) %!d(BADINDEX) %!(NOVERB)")),
        (r#"{{printf "%*d|%-*d|%.*f" 4 7 4 7 1 2.55}}"#, Ok("   7|7   |2.5")),
        (r#"{{printf "%*d %.*d" `a` 7 nil 7}}"#, Ok("%!(BADWIDTH)7 %!(BADPREC)7")),
        (r#"{{printf "%s %s" 1}}"#, Ok("%!s(int=1) %!s(MISSING)")),
        (r#"{{printf "%d%%" 1 2 nil `x`}}"#, Ok("1%%!(EXTRA int=2, <nil>, string=x)")),
        (r#"{{printf "%!" 1}}"#, Ok("%!!(int=1)")),
        (r#"{{printf "%" 1}}"#, Ok("%!(NOVERB)%!(EXTRA int=1)")),
        (
            r#"{{printf "%w %p %z" .Labels 1 `a`}}"#,
            Ok("%!w(map[string]string=map[team:a&b]) %!p(int=1) %!z(string=a)"),
        ),
        (r#"{{printf "%010.3f|%-08d|%+q" -2.5 7 'é'}}"#, Ok(r"-00002.500|7       |'\u00e9'")),
        ("{{eq .Labels nil}}", Ok("false")),
        (
            "{{ne .Labels .Labels}}",
            Err(
                r#"template: domain-template:1:2: executing "domain-template" at <ne .Labels .Labels>: error calling ne: non-comparable type map[team:a&b]: map[string]string"#,
            ),
        ),
        (r"{{'\xff'}}", Ok("255")),
        ("{{'ab'}}", Err("template: domain-template:1: malformed character constant: 'ab'")),
        (
            "{{index .Name 9}}",
            Err(
                r#"template: domain-template:1:2: executing "domain-template" at <index .Name 9>: error calling index: index out of range: 9"#,
            ),
        ),
        (
            "{{index .Name 4}}",
            Err(
                r#"template: domain-template:1:2: executing "domain-template" at <index .Name 4>: error calling index: reflect: string index out of range"#,
            ),
        ),
        (
            "{{2.5 | call}}",
            Err(
                r#"template: domain-template:1:8: executing "domain-template" at <call>: error calling call: non-function <float64 Value> of type float64"#,
            ),
        ),
        ("{{range .Labels}}a{{range 0}}{{else}}{{break}}{{end}}b{{end}}", Ok("ab")),
        ("{{range .Labels}}a{{range 0}}{{else}}{{continue}}{{end}}b{{end}}", Ok("a")),
        ("{{define `domain-template`}}x{{end}}", Ok("x")),
        (
            "a{{define `domain-template`}}x{{end}}",
            Err(
                r#"template: domain-template:1: template: multiple definition of template "domain-template""#,
            ),
        ),
        ("{{define `domain-template`}} {{end}}a", Ok("a")),
        (
            "{{if eq . .}}same{{end}}",
            Err(
                r#"template: domain-template:1:5: executing "domain-template" at <eq . .>: error calling eq: non-comparable type {chat team-a example.com map[] map[team:a&b]}: services.DomainTemplateValues"#,
            ),
        ),
    ] {
        let seen = text(template, Flavour::Text, "domain-template", Root::Domain(&values))
            .map_err(|failure| failure.message);
        assert_eq!(seen.as_deref().map_err(String::as_str), expected, "{template}");
    }
}

#[test]
fn a_definition_is_no_variable() {
    for template in [
        "{{define `x`}}a{{end}}b",
        "{{define `container-tmpl`}}a{{end}}",
        "{{.Name}}{{block `x` .}}a{{end}}",
    ] {
        let errors = expand_documented(template, &service()).expect_err(template);
        assert_eq!(
            errors.iter().map(|error| error.kind).collect::<Vec<_>>(),
            [ErrorKind::Unsupported],
            "{template}"
        );
        assert!(
            errors[0].message.ends_with("is more than a field of the service's metadata"),
            "{template}: {}",
            errors[0].message
        );
    }
}

#[test]
fn work_and_depth_and_output_are_bounded() {
    let doubling = "{{$x := `aaaaaaaaaaaaaaaa`}}".to_owned()
        + &"{{$x = print $x $x}}".repeat(40)
        + "{{len $x}}";
    let calls = "{{define `a`}}{{template `b`}}{{template `b`}}{{end}}{{define `b`}}{{template `a`}}{{end}}{{template `a`}}";
    let level = |level: usize| {
        format!(
            "{{{{define `t{}`}}}}{{{{template `t{level}`}}}}{{{{template `t{level}`}}}}{{{{end}}}}",
            level + 1
        )
    };
    let fan = "{{define `t0`}}x{{end}}".to_owned()
        + &(0..59).map(level).collect::<Vec<_>>().concat()
        + "{{template `t59`}}";
    let parens = format!("{{{{{}.Name{}}}}}", "(".repeat(100_000), ")".repeat(100_000));
    let branches = "{{if .Name}}".repeat(100_000);
    let chained = "{{if .Nope}}".to_owned() + &"{{else if .Nope}}".repeat(100_000) + "{{end}}";
    let pads = "{{printf `%999999d` 1}}".to_owned();
    for template in [
        doubling,
        calls.into(),
        fan,
        parens,
        branches,
        chained,
        "{{range 1000000000000}}{{end}}".into(),
        "{{range 10000000}}xxxxxxxx{{end}}".into(),
        pads,
    ] {
        let metadata = service();
        let outcome = text(&template, Flavour::Text, "container-tmpl", Root::Metadata(&metadata));
        assert_eq!(outcome.expect_err("refused").kind, ErrorKind::Unsupported, "{template:.60}");
    }
}

proptest! {
    /// Words of templates in any order neither panic nor run away, in any of the four uses.
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

/// A table recorded from Go; none where it is absent.
fn table(name: &str) -> Option<Vec<Json>> {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/conformance/apimachinery");
    let directory = std::env::var_os("OME_APIMACHINERY_DIR")
        .map_or_else(|| PathBuf::from(shared), PathBuf::from);
    #[expect(clippy::disallowed_methods, reason = "tests read their tables")]
    let text = std::fs::read_to_string(directory.join(name)).ok()?;
    Some(
        text.lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// What a row expects against what came out; a sentence when they differ.
fn compare(expected: &Json, key: &str, seen: Result<Json, String>) -> Option<String> {
    match (expected.get(key), expected.get("error").and_then(Json::as_str), seen) {
        (Some(expected), _, Ok(seen)) if *expected == seen => None,
        // Where reading JSON fails between strings the words are our own.
        (None, Some(expected), Err(seen))
            if expected == seen || seen.starts_with("the expanded container is no JSON") =>
        {
            None
        }
        (_, _, seen) => Some(format!("expected {expected}\n     got {seen:?}")),
    }
}

#[test]
fn every_row_recorded_from_go_agrees() {
    let Some(mut rows) = table("go-template.jsonl") else { return };
    assert!(rows.len() > 100, "the table has {} rows", rows.len());
    rows.extend(table("go-template-metadata.jsonl").into_iter().flatten());
    let mut wrong = Vec::new();
    let mut agreed = 0;
    for row in &rows {
        let pairs = |key: &str| -> Pairs<'_> {
            let map = row["data"].get(key).and_then(Json::as_object).into_iter().flatten();
            map.map(|(key, value)| (key.as_str(), value.as_str().unwrap())).collect()
        };
        let data = |key: &str| row["data"][key].as_str().unwrap_or_default();
        let (name, namespace) = (data("name"), data("namespace"));
        let object = Node::from_json(&serde_json::json!({"metadata": row["data"]}), at(0));
        let metadata = Metadata { server: ServerFields::Unset, ..Metadata::of(&object) };
        let values = DomainValues {
            name,
            namespace,
            ingress_domain: "example.com",
            labels: pairs("labels"),
            annotations: pairs("annotations"),
        };
        let template = row["template"].as_str().unwrap_or_default();
        let mut check = |what: &str, difference: Option<String>| match difference {
            None => agreed += 1,
            Some(difference) => wrong.push(format!(
                "{what} {}\n{difference}",
                row.get("template").unwrap_or(&row["container"])
            )),
        };
        let words =
            |outcome: Result<String, Error>| outcome.map(Json::from).map_err(|error| error.message);
        match row["use"].as_str().unwrap() {
            "template" => {
                let plain = |outcome: Result<String, Failure>| {
                    outcome.map(Json::from).map_err(|failure| failure.message)
                };
                let domain =
                    text(template, Flavour::Text, "domain-template", Root::Domain(&values));
                check("text", compare(&row["text"], "ok", plain(domain)));
                let path =
                    text(template, Flavour::Text, "url-template", Root::Path { name, namespace });
                check("text_path", compare(&row["text_path"], "ok", plain(path)));
                let html =
                    text(template, Flavour::Html, "container-tmpl", Root::Metadata(&metadata));
                check("html", compare(&row["html"], "ok", plain(html)));
            }
            "domain" => check("domain", compare(row, "result", words(domain(template, &values)))),
            "path" => check("path", compare(row, "result", words(path(template, name, namespace)))),
            "container" => {
                let container = Node::from_json(&row["container"], at(0));
                let expanded = expand_container(&container, &metadata, Mode::Controller)
                    .map_err(|errors| errors[0].message.clone());
                // Go writes the empty resources of its struct.
                let expanded = expanded.map(|node| {
                    let mut json = node.to_json();
                    json.as_object_mut()
                        .unwrap()
                        .entry("resources")
                        .or_insert_with(|| serde_json::json!({}));
                    json
                });
                check("container", compare(row, "result", expanded));
            }
            other => panic!("unknown use {other}"),
        }
    }
    assert!(wrong.is_empty(), "{agreed} agree, {} differ:\n{}", wrong.len(), wrong.join("\n"));
}
