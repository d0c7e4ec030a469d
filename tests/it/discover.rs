//! `ome discover -o dir=PATH`: what becomes of files.

use super::process::{Call, Done, run};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A directory of its own for one test, gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let directory =
            std::env::temp_dir().join(format!("ome-discover-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&directory));
        std::fs::create_dir_all(&directory).expect("a directory for temporary files is there");
        let scratch = Self(directory);
        scratch.write(
            "nodes.yaml",
            &(node("h1", "NVIDIA-H100-80GB-HBM3", 81_559) + &node("t1", "Tesla-T4", 15_360)),
        );
        scratch
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("below the directory"))
            .expect("a directory can be made");
        std::fs::write(path, text).expect("the directory can be written to");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(folder)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("can be listed").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn discover(&self, args: &[&str]) -> Done {
        let args =
            ["discover", "--no-config"].iter().chain(args).map(ToString::to_string).collect();
        run(&Call {
            args,
            stdin: "",
            directory: &self.0,
            env: &BTreeMap::new(),
            time: Duration::from_mins(1),
        })
        .expect("the call ends within a minute")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn node(name: &str, product: &str, mib: u32) -> String {
    format!(
        "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: {name}\n  labels:\n    nvidia.com/gpu.product: {product}\n    nvidia.com/gpu.memory: \"{mib}\"\n\
         status:\n  capacity:\n    nvidia.com/gpu: \"8\"\n"
    )
}

const INTO: [&str; 4] = ["-f", "nodes.yaml", "-o", "dir=classes"];

#[test]
fn a_second_run_changes_nothing() {
    // OEP-0003, Auto-Discovery Examples.
    let scratch = Scratch::new("second");
    let done = scratch.discover(&INTO);
    assert_eq!(
        (done.exit, done.stdout.as_str()),
        (
            Some(0),
            "created    classes/nvidia-h100-80gb-hbm3.yaml\ncreated    classes/nvidia-tesla-t4.yaml\n"
        ),
        "{}",
        done.stderr
    );
    let text = scratch.read("classes/nvidia-h100-80gb-hbm3.yaml");
    assert!(
        text.contains("memoryGB: 80Gi # label nvidia.com/gpu.memory = 81559 on 1 node\n"),
        "{text}"
    );
    let again = scratch.discover(&[&INTO[..], &["--update"]].concat());
    assert_eq!(
        (again.exit, again.stdout.as_str()),
        (
            Some(0),
            "unchanged  classes/nvidia-h100-80gb-hbm3.yaml:1\nunchanged  classes/nvidia-tesla-t4.yaml:1\n"
        ),
        "{}",
        again.stderr
    );
    assert_eq!(
        (scratch.read("classes/nvidia-h100-80gb-hbm3.yaml"), scratch.names("classes").len()),
        (text, 2)
    );
    // The written files pass the check: figures of the proposal that the shipped definition lacks
    // are a warning.
    let args =
        ["validate", "classes", "--no-config", "--no-builtin"].map(ToString::to_string).to_vec();
    let gate = run(&Call {
        args,
        stdin: "",
        directory: &scratch.0,
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    })
    .expect("the call ends within a minute");
    assert_eq!(gate.exit, Some(0), "{}{}", gate.stdout, gate.stderr);
}

#[test]
fn update_rewrites_only_the_document_of_the_class() {
    let scratch = Scratch::new("update");
    let class = |name: &str, labels: &str, memory: &str| {
        format!(
            "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata:\n  name: {name}\n  labels: {{{labels}}}\nspec:\n  discovery:\n    nodeSelector:\n      \
             nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3\n  capabilities:\n    memoryGB: {memory}\n  cost:\n    perHour: \"5\"\n"
        )
    };
    let before = format!(
        "# ours\n{}---\n# theirs\n{}",
        class("nvidia-h100-80gb-hbm3", "ome.io/auto-discovered: \"true\"", "40Gi"),
        class("other", "", "40Gi").replace("HBM3", "X")
    );
    scratch.write("classes/all.yaml", &before);
    let done = scratch.discover(&INTO);
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    assert!(
        done.stdout
            .contains("differs    classes/all.yaml:2: not changed; `--update` rewrites it\n"),
        "{}",
        done.stdout
    );
    assert_eq!(scratch.read("classes/all.yaml"), before);
    let done = scratch.discover(&[&INTO[..], &["--update"]].concat());
    assert!(done.stdout.contains("updated    classes/all.yaml:2\n"), "{}", done.stdout);
    let after = scratch.read("classes/all.yaml");
    assert!(
        after.starts_with("# ours\napiVersion")
            && after.contains("---\n# theirs\n")
            && after.contains("memoryGB: 80Gi #")
            && after.contains("perHour: \"5\"\n"),
        "{after}"
    );
    assert!(after.ends_with(before.rsplit("---").next().expect("a second document")), "{after}");
    let done = scratch.discover(&[&INTO[..], &["--update"]].concat());
    assert!(done.stdout.contains("unchanged  classes/all.yaml:2\n"), "{}", done.stdout);
}

#[test]
fn update_refuses_files_in_the_way_and_keeps_other_files() {
    let scratch = Scratch::new("outside");
    let old = "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata:\n  name: nvidia-tesla-t4\n  labels:\n    ome.io/auto-discovered: \"true\"\nspec:\n  \
               discovery: {nodeSelector: {nvidia.com/gpu.product: Tesla-T4}}\n  capabilities: {memoryGB: 8Gi}\n";
    scratch.write("old.yaml", old);
    scratch.write("classes/nvidia-h100-80gb-hbm3.yaml", "a: 1\n");
    let done =
        scratch.discover(&["-f", "nodes.yaml", "-f", "old.yaml", "-o", "dir=classes", "--update"]);
    assert_eq!(done.exit, Some(1), "a file is in the way: {}", done.stdout);
    assert!(
        done.stdout.contains("in the way classes/nvidia-h100-80gb-hbm3.yaml"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("created    classes/nvidia-tesla-t4.yaml (the old class is in old.yaml:1: delete it there)\n"), "{}", done.stdout);
    assert_eq!(
        (
            scratch.read("old.yaml").as_str(),
            scratch.read("classes/nvidia-h100-80gb-hbm3.yaml").as_str()
        ),
        (old, "a: 1\n")
    );

    // A class within another object is left to whoever wrote that.
    let list =
        format!("apiVersion: v1\nkind: List\nitems:\n- {}", old.trim_end().replace('\n', "\n  "));
    scratch.write("lists/list.yaml", &list);
    let done = scratch.discover(&["-f", "nodes.yaml", "-o", "dir=lists", "--update"]);
    assert!(done.stdout.contains("left       lists/list.yaml:4: the class is part of a larger object, change it by hand\n"), "{}", done.stdout);
    assert_eq!((done.exit, scratch.read("lists/list.yaml")), (Some(1), list));
}

#[test]
fn invalid_discover_arguments_are_refused() {
    let scratch = Scratch::new("refused");
    for (args, said) in [
        (&["--update"][..], "name their directory with `-o dir=PATH`"),
        (&["-o", "xml"], "accepted are table, yaml, json and dir=PATH"),
        (&["--from-values", "missing.yaml"], "missing.yaml"),
    ] {
        let done = scratch.discover(args);
        assert_eq!(done.exit, Some(1), "{args:?}");
        assert!(done.stderr.contains(said), "{args:?}: {}", done.stderr);
    }
    scratch.write("broken.yaml", "acceleratorClasses: {nvidia: [\n");
    let done = scratch.discover(&["--from-values", "broken.yaml"]);
    assert!(
        done.exit == Some(1)
            && done.stderr.contains("yaml-syntax")
            && !done.stderr.contains("not-kubernetes"),
        "{}",
        done.stderr
    );
    for text in ["", "a: 1\n", "# {{ .Values }}\n"] {
        scratch.write("empty.yaml", text);
        let done = scratch.discover(&["--from-values", "empty.yaml"]);
        assert!(
            done.exit == Some(1) && done.stderr.contains("required-field"),
            "{text:?}: {}",
            done.stderr
        );
    }
    scratch.write(
        "template.yaml",
        "acceleratorClasses:\n{{- range .Values.x }}\n  a: 1\n{{- end }}\n",
    );
    let done = scratch.discover(&["--from-values", "template.yaml"]);
    assert!(done.exit == Some(1) && done.stderr.contains("yaml-syntax"), "{}", done.stderr);
}

#[test]
fn the_discover_table_lists_classes_nodes_and_changes() {
    let scratch = Scratch::new("table");
    scratch.write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeName: h1\n  containers:\n  - {name: c, image: i, resources: {limits: {nvidia.com/gpu: 3}}}\n");
    scratch.write(
        "cpu.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {name: c1}\nstatus: {capacity: {cpu: 8}}\n",
    );
    scratch.write(
        "mine.yaml",
        "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata:\n  name: nvidia-tesla-t4\n  labels: {ome.io/auto-discovered: \"true\"}\nspec:\n  vendor: nvidia\n  \
         discovery: {nodeSelector: {nvidia.com/gpu.product: Tesla-T4}}\n  capabilities: {memoryGB: 8Gi}\n  resources: [{name: nvidia.com/gpu}]\n",
    );
    let done = scratch.discover(&["-f", "."]);
    let expected = "\
ACTION  CLASS                  VENDOR  FAMILY  MEMORY  NODES  USABLE  DEVICES  FREE  FROM
create  nvidia-h100-80gb-hbm3  nvidia  hopper  80Gi    1      1       8        5     nvidia.com/gpu.product
update  nvidia-tesla-t4        nvidia  turing  16Gi    1      1       8        8     mine.yaml:1

nvidia-tesla-t4
  memoryGB: 8Gi -> 16Gi  # label nvidia.com/gpu.memory = 15360 on 1 node
  + family, model, computeCapability, memoryBandwidthGBps, features, fp32TFLOPS, fp16TFLOPS, int8TOPS  # data sheet of nvidia-t4

without accelerators: c1

1 to create, 1 to update
";
    assert_eq!((done.exit, done.stdout.as_str()), (Some(0), expected), "{}", done.stderr);
}
