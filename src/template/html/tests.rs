//! What Go 1.26 makes of templates in every context, in our own words.

use super::super::exec::{Flavour, execute};
use super::super::parse::parse;
use super::super::value::{Metadata, Root, ServerFields};
use super::entities;

const ROWS: &[(&str, Result<&str, &str>)] = &[
    // Text and comments.
    ("a < b <3 {{.Annotations.note}}", Ok("a &lt; b &lt;3 it&#39;s &lt;1&#43;1&gt;")),
    ("<!-- {{.Name}} -->x<!DOCTYPE html>", Ok("x<!DOCTYPE html>")),
    (
        "<!-- a",
        Err(
            "html/template:container-tmpl: ends in a non-text context: {stateHTMLCmt delimNone urlPartNone jsCtxRegexp [] attrNone elementNone <nil>}",
        ),
    ),
    ("</{{.Name}}>", Ok("&lt;/chat>")),
    // Attributes.
    (
        r#"<p title="{{.Annotations.note}}" lang='{{.Name}}'>"#,
        Ok(r#"<p title="it&#39;s &lt;1&#43;1&gt;" lang='chat'>"#),
    ),
    ("<p title={{.Annotations.note}}>", Ok("<p title=it&#39;s&#32;&lt;1&#43;1&gt;>")),
    ("<p title={{.Labels.none}}>", Ok("<p title=ZgotmplZ>")),
    ("<p {{.Name}}=x {{.Annotations.note}}>", Ok("<p chat=x ZgotmplZ>")),
    ("<p {{`onclick`}}=x>", Ok("<p ZgotmplZ=x>")),
    ("<p title=a'b>", Err(r#"html/template:container-tmpl: "'" in unquoted attr: "a'b""#)),
    (r#"<p "x>"#, Err(r#"html/template:container-tmpl: "\"" in attribute name: " \"x>""#)),
    // URLs.
    (r#"<a href="{{.Annotations.url}}">"#, Ok(r##"<a href="#ZgotmplZ">"##)),
    (r#"<a href="/x?{{.Annotations.list}}">"#, Ok(r#"<a href="/x?k%3d%2fa%20b%3fc">"#)),
    (r#"<a href="/x/{{.Annotations.list}}">"#, Ok(r#"<a href="/x/k=/a%20b?c">"#)),
    (
        "<a href='{{if .Name}}?{{else}}/{{end}}{{.Name}}'>",
        Err(
            "html/template:container-tmpl:1:40: {{.Name}} appears in an ambiguous context within a URL",
        ),
    ),
    ("<a href={{.Annotations.list}}>", Ok("<a href=k&#61;/a%20b?c>")),
    (r#"<img srcset="{{.Annotations.set}}">"#, Ok(r#"<img srcset="a.png 2x,#ZgotmplZ">"#)),
    (r#"<a href="&quest;{{.Annotations.list}}">"#, Ok(r#"<a href="&quest;k%3d%2fa%20b%3fc">"#)),
    (r#"<a data-link-url="{{.Annotations.url}}">"#, Ok(r##"<a data-link-url="#ZgotmplZ">"##)),
    (
        r#"<meta content="5; URL={{.Annotations.url}};{{.Annotations.url}}">"#,
        Ok(r#"<meta content="5; URL=#ZgotmplZ;javascript:go()">"#),
    ),
    // JavaScript.
    (
        "<script>a = {{.Labels}}; b = {{len .Name}}; c = {{.Labels.none}}; d = {{1i}}</script>",
        Ok(
            r#"<script>a = {"app.io/x":"y","team":"a\u0026b"}; b =  4 ; c =  null ; d =  /* json: unsupported type: complex128 */null </script>"#,
        ),
    ),
    (
        "<script>'{{.Annotations.note}}' + /{{.Annotations.note}}/ + `{{.Annotations.note}}${ {{.Name}} }`</script>",
        Ok(
            r#"<script>'it\u0027s \u003c1\u002b1\u003e' + /it\u0027s \u003c1\u002b1\u003e/ + `it\u0027s \u003c1\u002b1\u003e${ "chat" }`</script>"#,
        ),
    ),
    (
        "<script>x = 1 / {{.Name}} // gone {{.Name}}\n/* a\n{{.Name}} */ y --> gone\n</script>",
        Ok("<script>x = 1 / \"chat\" \n\n  y \n</script>"),
    ),
    (
        "<script>{{if .Name}}x{{end}} / {{.Name}}/</script>",
        Err(r#"html/template:container-tmpl: '/' could start a division or regexp: "/ ""#),
    ),
    ("<script>'</script>' < '<!--' </script>", Ok(r"<script>'\x3C/script>' < '\x3C!--' </script>")),
    (
        "<script>/[{{.Name}}]/</script>",
        Err(r#"html/template:container-tmpl: unfinished JS regexp charset: "[""#),
    ),
    (
        r#"<script>"\{{.Name}}"</script>"#,
        Err(r#"html/template:container-tmpl: unfinished escape sequence in JS string: "\\""#),
    ),
    (
        "<script>`${ { {{.Name}} } }`;{{.Name}}</script>",
        Ok(r#"<script>`${ { "chat" } }`;"chat"</script>"#),
    ),
    (
        "<script type=text/plain>{{.Annotations.note}}</script>",
        Ok("<script type=text/plain>it&#39;s &lt;1&#43;1&gt;</script>"),
    ),
    (
        r#"<p onclick="f({{.Annotations.note}})">"#,
        Ok(r#"<p onclick="f(&#34;it&#39;s \u003c1&#43;1\u003e&#34;)">"#),
    ),
    (
        "<p onclick=&#39;{{.Annotations.note}}&#39;>",
        Ok(r"<p onclick=&#39;it\u0027s&#32;\u003c1\u002b1\u003e&#39;>"),
    ),
    // CSS.
    (
        r#"<style>a { color: {{.Annotations.css}}; width: {{`10px`}} } /* {{.Name}} */ b { background: url({{.Annotations.url}}) url('/x?{{.Annotations.list}}'); content: "/{{.Annotations.note}}" }</style>"#,
        Ok(
            r#"<style>a { color: ZgotmplZ; width: 10px }    b { background: url(#ZgotmplZ) url('/x?k%3d%2fa%20b%3fc'); content: "/it%27s%20%3c1%2b1%3e" }</style>"#,
        ),
    ),
    (r#"<p style="color: {{`\\65xpression`}}">"#, Ok(r#"<p style="color: ZgotmplZ">"#)),
    (
        r#"<style>"\{{.Name}}"</style>"#,
        Err(r#"html/template:container-tmpl: unfinished escape sequence in CSS string: "\\""#),
    ),
    // Text of elements.
    (
        "<title>{{.Annotations.note}}<b></title><textarea>{{.Annotations.note}}</TEXTAREA>",
        Ok(
            "<title>it&#39;s &lt;1&#43;1&gt;&lt;b></title><textarea>it&#39;s &lt;1&#43;1&gt;</TEXTAREA>",
        ),
    ),
    // Branches and loops.
    (
        "{{range .Labels}}<p>{{else}}<p{{end}}",
        Err(
            "html/template:container-tmpl:1:8: {{range}} branches end in different contexts: {stateText delimNone urlPartNone jsCtxRegexp [] attrNone elementNone <nil>}, {stateTag delimNone urlPartNone jsCtxRegexp [] attrNone elementNone <nil>}",
        ),
    ),
    (
        "{{range .Labels}}<p{{end}}>",
        Err(
            r#"html/template:container-tmpl:1: on range loop re-entry: "<" in attribute name: "<p""#,
        ),
    ),
    (
        "<p {{range .Labels}}{{if .}}title='{{break}}{{end}}{{end}}>",
        Err(
            "html/template:container-tmpl:1:37: at range loop break: {{range}} branches end in different contexts: {stateTag delimNone urlPartNone jsCtxRegexp [] attrNone elementNone <nil>}, {stateAttr delimSingleQuote urlPartNone jsCtxRegexp [] attrNone elementNone <nil>}",
        ),
    ),
    (
        "<p {{range .Labels}}{{if .}}title={{continue}}{{end}}a=b{{end}}>",
        Err(
            r#"html/template:container-tmpl:1: on range loop re-entry: "=" in unquoted attr: "a=b""#,
        ),
    ),
    ("{{with .Name}}<p {{.}}>{{else}}{{.Name}}{{end}}", Ok("<p chat>")),
    ("<p title={{if .Name}}{{.Name}}{{end}}>", Ok("<p title=chat>")),
    (
        r#"<p title={{if .Name}}"a{{else}}'{{end}}>"#,
        Err(
            "html/template:container-tmpl:1:14: {{if}} branches end in different contexts: {stateAttr delimDoubleQuote urlPartNone jsCtxRegexp [] attrNone elementNone <nil>}, {stateAttr delimSingleQuote urlPartNone jsCtxRegexp [] attrNone elementNone <nil>}",
        ),
    ),
    // Templates.
    (
        r#"{{define `v`}}{{.}}{{end}}<p title="{{template `v` .Annotations.note}}">{{template `v` .Annotations.note}}<script>{{template `v` .Name}}</script>"#,
        Ok(
            r#"<p title="it&#39;s &lt;1&#43;1&gt;">it&#39;s &lt;1&#43;1&gt;<script>"chat"</script>"#,
        ),
    ),
    (
        "{{define `v`}}{{.Foo}}{{end}}<p title='{{template `v` .}}'>",
        Err(
            r#"template: container-tmpl:1:16: executing "v$htmltemplate_stateAttr_delimSingleQuote" at <.Foo>: can't evaluate field Foo in type v1.ObjectMeta"#,
        ),
    ),
    (
        "{{define `v`}}{{if .Foo}}{{template `v`}}{{end}}<script>{{end}}{{template `v` .}}",
        Err(
            "html/template:container-tmpl: ends in a non-text context: {stateJS delimNone urlPartNone jsCtxRegexp [] attrNone elementScript <nil>}",
        ),
    ),
    ("{{template `w`}}", Err(r#"html/template:container-tmpl:1:11: no such template "w""#)),
    (
        "{{define `v`}}<p title='{{end}}{{template `v`}}{{.Annotations.note}}'>",
        Ok("<p title='it&#39;s &lt;1&#43;1&gt;'>"),
    ),
    // Escapers that templates know.
    (
        "{{.Name | html | print}}",
        Err(
            r#"html/template:container-tmpl:1:2: predefined escaper "html" disallowed in template"#,
        ),
    ),
    (
        "<p title={{.Name | html}}>",
        Err(
            r#"html/template:container-tmpl:1:11: predefined escaper "html" disallowed in template"#,
        ),
    ),
    (
        r#"<p title="{{.Annotations.note | html}}" href="{{.Annotations.list | urlquery}}">"#,
        Ok(r#"<p title="it&#39;s &lt;1+1&gt;" href="k%3D%2Fa&#43;b%3Fc">"#),
    ),
    ("{{html .Labels.none `+`}}", Ok("&lt;nil&gt;+")),
    ("{{.Name | html `lost`}}", Ok("chat")),
    (
        "<script>{{.Annotations.note | js}}</script>",
        Ok(r#"<script>"it\\'s \\u003C1+1\\u003E"</script>"#),
    ),
];

fn html(template: &str) -> Result<String, String> {
    let metadata = Metadata {
        name: "chat",
        namespace: "team-a",
        labels: [("team", "a&b"), ("app.io/x", "y")].into(),
        annotations: [
            ("note", "it's <1+1>"),
            ("url", "javascript:go()"),
            ("set", "a.png 2x, javascript:1 3x"),
            ("css", "red;x"),
            ("list", "k=/a b?c"),
        ]
        .into(),
        server: ServerFields::Unset,
        ..Metadata::default()
    };
    let outcome = parse("container-tmpl", template)
        .and_then(|program| execute(&program, Flavour::Html, Root::Metadata(&metadata)));
    outcome.map(|output| output.text).map_err(|failure| failure.message)
}

#[test]
fn every_place_gets_its_escapes() {
    for (template, expected) in ROWS {
        assert_eq!(
            html(template).as_ref().map(String::as_str).map_err(String::as_str),
            *expected,
            "{template}"
        );
    }
}

#[test]
fn work_is_bounded_where_go_doubles_it() {
    let loops = "{{range .Labels}}".repeat(40) + &"{{end}}".repeat(40);
    let grows =
        "{{define `v`}}`${ {{template `v`}}{{end}}<script>{{template `v`}}</script>".to_owned();
    let calls = (0..99).fold("{{define `t0`}}<p '{{end}}".to_owned(), |text, level| {
        format!("{text}{{{{define `t{}`}}}}{{{{template `t{level}`}}}}{{{{end}}}}", level + 1)
    }) + "{{template `t99`}}";
    let script = format!("<script>{}</script>", "x = 'y'; ".repeat(50_000));
    for (template, refused) in [(loops, true), (grows, true), (calls, true), (script, false)] {
        let outcome = html(&template);
        assert_eq!(
            outcome.as_ref().is_err_and(|message| message.ends_with("is not supported")),
            refused,
            "{template:.60} {outcome:.60?}"
        );
    }
}

#[test]
fn references_are_read_as_in_go() {
    for (text, expected) in [
        ("&amp;&lt&gt;&AMP", "&<>&"),
        ("&notit;&notin;&not", "\u{ac}it;\u{2209}\u{ac}"),
        ("&acE;&unknown;&;&", "\u{223e}\u{333}&unknown;&;&"),
        ("&#65;&#x41 &#X4a;&#128;&#0;&#xd800;&#1;", "AA J\u{20ac}\u{fffd}\u{fffd}\u{1}"),
        ("&#x100000041;&#1", "A&#1"),
        ("&#;&#x;&#xg", "&#;\u{fffd}&#xg"),
    ] {
        assert_eq!(
            String::from_utf8_lossy(&entities::unescape(text.as_bytes())),
            expected,
            "{text}"
        );
    }
}
