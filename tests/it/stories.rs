//! The stories of OEP-0003: what `ome explain` shows of each, kept as a page.
//!
//! `INSTA_UPDATE=always cargo test --test it stories` writes the pages anew; each is to be read
//! before it is kept.

use crate::process;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Files of every story: models and runtimes.
const COMMON: [&str; 2] = ["common/models.yaml", "common/runtimes.yaml"];
const CLASSES: &str = "common/classes.yaml";
const NODES: &str = "common/nodes.yaml";

/// The page of a story, and how the tool ended.
fn page(files: &[&str], flags: &[&str]) -> String {
    let mut args = vec!["explain".to_owned(), "--no-builtin".to_owned(), "--no-config".to_owned()];
    for file in COMMON.iter().chain(files) {
        args.extend(["-f".to_owned(), format!("testdata/stories/{file}")]);
    }
    args.extend(flags.iter().map(ToString::to_string));
    let call = process::Call {
        args,
        stdin: "",
        directory: Path::new(env!("CARGO_MANIFEST_DIR")),
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    };
    let done = process::run(&call).expect("the tool answers");
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    done.stdout
}

/// A page under the name of its story.
macro_rules! stories {
    ($($name:ident: $files:expr, $flags:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                    insta::assert_snapshot!(stringify!($name), page(&$files, &$flags));
                });
            }
        )*
    };
}

stories! {
    story_1_one_model: [CLASSES, NODES, "1-one-model.yaml"], [];
    story_2_many_gpus: [CLASSES, NODES, "2-many-gpus.yaml"], ["--merge"];
    story_3_kueue_flavor: ["3-kueue-flavor.yaml"], [];
    story_4_node_selection: ["4-node-selection.yaml"], ["--merge"];
    story_5_router_on_cpu: [CLASSES, NODES, "5-router-on-cpu.yaml"], ["--merge"];
    story_6_cost: [CLASSES, "6-cost.yaml"], ["--request-size", "1024"];
    story_7_performance: [CLASSES, "7-performance.yaml"], ["--merge"];
    story_8_own_command: [CLASSES, "8-own-command.yaml"], ["--merge"];
}
