use super::*;

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
fn template_definitions_are_unsupported_in_documented_mode() {
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
