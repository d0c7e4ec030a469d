//! The stories of docs/what-if.md: each command prints what the page shows.

use super::process::{Call, run};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What a command of the page prints.
fn printed(command: &str) -> String {
    let args = command.split(' ').skip(1).chain(["--no-config"]).map(str::to_owned).collect();
    let directory = Path::new(ROOT).join("testdata/what-if");
    let call = Call {
        args,
        stdin: "",
        directory: &directory,
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    };
    run(&call).expect("the tool answers").stdout
}

#[test]
fn the_stories_print_what_the_page_shows() {
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/what-if.md")).expect("the page");
    let mut stories = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let (command, shown) = block.split_once('\n').expect("a command");
        let printed = printed(command.strip_prefix("$ ").expect("a prompt"));
        assert_eq!(printed.trim_end(), shown.trim_end(), "{command}");
        stories += 1;
    }
    assert_eq!(stories, 3);
}

/// Services that an operator decides stand on the nodes, too, and both ways of losing one agree.
#[test]
fn services_lose_their_pods_with_the_only_node() {
    let each = printed("ome plan --each node -f ../../examples/quickstart");
    assert!(each.contains("node=gpu-0  1      3     3 "), "{each}");
    assert!(each.contains("demo/chat, demo/coder") && !each.contains('✓'), "{each}");
    let one = printed("ome plan --without node=gpu-0 -f ../../examples/quickstart");
    assert!(one.contains("3 pods ran there; 3 find no room (6 GPUs short)"), "{one}");
}
