use super::*;

#[test]
fn strings_are_quoted_where_a_reader_would_misread_them() {
    let mut wrong = Vec::new();
    for row in recordings::rows::<Json>("apimachinery/yaml-emit") {
        let text = row["string"].as_str().unwrap();
        let no = |column: &str| row[column] == false;
        let plain = |written: &str, at: &str| {
            written.contains(&format!("{at}{text}\n")) || written.starts_with(&format!("{text}: "))
        };
        for (value, columns) in [
            (json!({"v": text, "w": 1}), ["plain_ok_kubectl", "plain_ok_kustomize"]),
            (json!({text: "v"}), ["plain_key_ok_kubectl", "plain_key_ok_kustomize"]),
            (json!([text]), ["plain_item_ok_kubectl", "plain_item_ok_kustomize"]),
        ] {
            let mut written = String::new();
            write(&mut written, &node(&value));
            let bare = plain(&written, "v: ") || plain(&written, "- ");
            if bare && columns.iter().any(|column| no(column)) {
                wrong.push(format!("{text:?} stands bare in {written:?}"));
            }
            let (nodes, findings) = read(&written);
            // kustomize merges `<<` even in quotes; a finding is all that is possible.
            if nodes != [node(&value)] || !(findings.is_empty() || text == "<<") {
                wrong.push(format!("{written:?} comes back as {nodes:?}: {findings:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} strings\n{}", wrong.len(), wrong.join("\n"));
}

fn written(value: &Json) -> String {
    let mut out = String::new();
    write(&mut out, &node(value));
    out
}

#[test]
fn trees_are_written_as_kubectl_prints_them() {
    let value = json!({
        "apiVersion": "v1",
        "args": ["--port", "8080", "-c", "$(X)", "*.py", "it's", "a: b", ""],
        "data": {"script": "#!/bin/sh\nset -e\n\nexec x\n", "open": "a\nb", "more": "a\n\n\n", "odd": " a\nb", "tail": "a \nb"},
        "empty": {"map": {}, "list": [], "null": null},
        "items": [{"name": "a", "ports": [80, 443]}, [1, [2]], {}],
        "words": ["yes", "1.10", "2024-01-01", "null", "0x1F", "1:30", "日本", "a\tb", "tru", "v1.10"],
    });
    let expected = "\
apiVersion: v1
args:
- --port
- \"8080\"
- -c
- $(X)
- '*.py'
- it's
- 'a: b'
- \"\"
data:
  script: |
    #!/bin/sh
    set -e

    exec x
  open: |-
    a
    b
  more: |+
    a


  odd: \" a\\nb\"
  tail: \"a \\nb\"
empty:
  map: {}
  list: []
  \"null\": null
items:
- name: a
  ports:
  - 80
  - 443
- - 1
  - - 2
- {}
words:
- \"yes\"
- \"1.10\"
- \"2024-01-01\"
- \"null\"
- \"0x1F\"
- \"1:30\"
- 日本
- \"a\\tb\"
- tru
- v1.10
";
    assert_eq!(written(&value), expected);
    assert_eq!(read(expected), (vec![node(&value)], vec![]));
}

#[test]
fn numbers_are_written_so_that_they_come_back() {
    for (value, expected) in [
        (Value::Float(0.1), "0.1\n"),
        (Value::Float(1e21), "1e+21\n"),
        (Value::Float(1.5e-7), "1.5e-7\n"),
        (Value::Float(-0.0), "0\n"),
        (Value::Float(5.0), "5\n"),
        (Value::Float(f64::MAX), "1.7976931348623157e+308\n"),
        (Value::Float(1e20), "100000000000000000000\n"),
        (Value::Int(i64::MIN), "-9223372036854775808\n"),
        (Value::Big(u64::MAX), "18446744073709551615\n"),
    ] {
        let mut out = String::new();
        let node = Node::new(value, Origin::Derived(&TEST));
        write(&mut out, &node);
        assert_eq!(out, expected);
        assert_eq!(read(&out).0, [node]);
    }
}

#[test]
fn remarks_become_comments_behind_leaves() {
    let value = node(&json!({"a": {"b": 1, "c": "x\ny\n"}, "d": [{"e": []}, "f"]}));
    let mut out = String::new();
    write_with(&mut out, &value, &mut |path, node| {
        (node.as_int().is_none()).then(|| format!("at {path}"))
    });
    let expected =
        "a:\n  b: 1\n  c: | # at a.c\n    x\n    y\nd:\n- e: [] # at d[0].e\n- f # at d[1]\n";
    assert_eq!(out, expected);
    assert_eq!(read(&out), (vec![value], vec![]));
}

#[test]
fn long_keys_survive_a_round_trip() {
    let key = "k".repeat(1100);
    assert_eq!(
        read(&written(&json!({"a": {key.as_str(): "v", "w": [1]}}))).0,
        [node(&json!({"a": {key.as_str(): "v", "w": [1]}}))]
    );
}

#[test]
fn trees_serialize_as_their_json() {
    let value = json!({"b": [1, 2.5, null, true, "x"], "a": {"c": {}}, "n": u64::MAX});
    assert_eq!(serde_json::to_string(&node(&value)).unwrap(), value.to_string());
}
