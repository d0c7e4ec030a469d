//! `examples/` of tools that no registry has: their files can be read, and every call of `ome` in
//! them is one that this build accepts.

use crate::process::{Call, run};
use ome::internals::source::SourceId;
use ome::internals::yaml::{Limits, Node, Value, parse};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

/// The lines of all texts of a tree that call the tool.
fn calls(node: &Node, found: &mut Vec<String>) {
    match &node.value {
        Value::Str(text) => {
            // Values that only a run has are not part of this build.
            let is_call =
                |line: &&str| line.strip_prefix("ome ").is_some_and(|rest| !rest.starts_with('"'));
            found.extend(text.lines().filter(is_call).map(str::to_owned));
        }
        Value::List(items) => items.iter().for_each(|item| calls(item, found)),
        Value::Map(map) => map.iter().for_each(|entry| calls(&entry.node, found)),
        _ => {}
    }
}

#[test]
fn commands_in_the_example_files_parse() {
    for (file, least) in [
        ("github/ome.yml", 6),
        ("gitlab/.gitlab-ci.yml", 3),
        ("argocd/plugin.yaml", 1),
        ("argocd/application.yaml", 0),
        ("flux/serving.yaml", 0),
        ("../action.yml", 0),
        ("../.github/workflows/release.yml", 0),
    ] {
        let text = std::fs::read_to_string(Path::new(EXAMPLES).join(file)).expect("it is there");
        let range = 0..text.len();
        let read = parse(SourceId(0), &text, range, &Limits::default());
        let mut found = Vec::new();
        calls(&read.value.expect("it is YAML"), &mut found);
        assert!(found.len() >= least, "{file}: {found:?}");
        for call in found {
            // Up to the redirection; `--help` behind the flags reads them all and does nothing.
            let words = call.split([' ']).take_while(|word| !matches!(*word, ">" | "||"));
            let words = words.skip(1).map(|word| word.trim_matches('"').to_owned());
            let args: Vec<String> = words.chain(["--help".to_owned()]).collect();
            let call = Call {
                args,
                stdin: "",
                directory: Path::new(EXAMPLES),
                env: &BTreeMap::new(),
                time: Duration::from_secs(30),
            };
            let done = run(&call).expect("help takes no time");
            assert_eq!(done.exit, Some(0), "{file}: {:?}: {}", call.args, done.stderr);
        }
    }
}

/// Every command that a page proposes for a symptom is one that the program takes.
#[test]
fn commands_in_the_page_of_symptoms_parse() {
    let page = Path::new(EXAMPLES).join("../docs/symptoms.md");
    let text = std::fs::read_to_string(page).expect("it is there");
    let commands: Vec<&str> =
        text.split('`').filter_map(|part| part.strip_prefix("ome ")).collect();
    assert!(commands.len() >= 25, "{commands:?}");
    for command in commands {
        let args = command.split(' ').chain(["--help"]).map(str::to_owned).collect();
        let (env, time) = (BTreeMap::new(), Duration::from_secs(30));
        let call = Call { args, stdin: "", directory: Path::new(EXAMPLES), env: &env, time };
        let done = run(&call).expect("help takes no time");
        assert_eq!(done.exit, Some(0), "{command}: {}", done.stderr);
    }
}
