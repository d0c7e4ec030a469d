//! `-o dir=` and the other commands that write, with the real file system: nothing of the user's is
//! ever lost.

mod crash;
mod git;
mod property;

use crate::process::{Done, Folder, binary, in_directory};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

const CATALOG: &str = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec:\n  modelFormat: {name: safetensors}\n  modelArchitecture: A\n  modelParameterSize: 1B\n  storage: {storageUri: \"hf://a/b\"}\n---\napiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: r}\nspec:\n  supportedModelFormats:\n  - modelFormat: {name: safetensors}\n    modelArchitecture: A\n    autoSelect: true\n  engineConfig:\n    runner: {name: ome-container, image: \"example/server:1\"}\n";

/// A service that becomes a few objects; its Deployment differs from round to round.
fn service(name: &str, round: u32) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {name}, namespace: ns}}\nspec:\n  model: {{name: m}}\n  engine:\n    runner: {{name: ome-container, env: [{{name: ROUND, value: round-{round}}}]}}\n"
    )
}

/// The path of a service's Deployment.
fn deployment(service: &str) -> String {
    format!("out/ns/{service}/deployment-{service}-engine.yaml")
}

/// A file that is too large costs nothing: it is not read.
const RENDER: &str = "render -f in -o dir=out --no-builtin --no-config --max-file-size 1MiB";

/// A folder with an input of some services, rendered once.
fn rendered(services: &[&str]) -> Folder {
    let folder = Folder::new(&[("in/catalog.yaml", CATALOG)]);
    for name in services {
        folder.write(&format!("in/{name}.yaml"), service(name, 1));
    }
    let done = folder.ome(RENDER);
    assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""));
    folder
}

/// Every file of the folder's `out`, with its content.
fn state(folder: &Folder) -> BTreeMap<String, String> {
    let read = |name: String| {
        let content = folder.read(&format!("out/{name}"));
        (name, content)
    };
    folder.names("out").into_iter().map(read).collect()
}

/// The manifest lists exactly the files that are there, as they are; but for those of the user.
fn agrees(folder: &Folder, of_the_user: &[&str]) {
    let list: serde_json::Value =
        serde_json::from_str(&folder.read("out/.ome-manifest")).expect("JSON");
    let listed: BTreeMap<String, String> = list["files"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| ["path", "sha256"].map(|key| file[key].as_str().expect("text").to_owned()))
        .map(|[path, sum]| (path, sum))
        .collect();
    assert_eq!(listed.len(), list["files"].as_array().map_or(0, Vec::len), "each path once");
    let found: BTreeMap<String, String> = state(folder)
        .into_iter()
        .filter(|(name, _)| name != ".ome-manifest" && !of_the_user.contains(&name.as_str()))
        .map(|(name, content)| (name, format!("{:x}", Sha256::digest(content))))
        .collect();
    assert_eq!(listed, found);
}

/// Whether a file is a temporary one or a lock.
fn is_left(name: &str) -> bool {
    name.starts_with(".ome-") && name != ".ome-manifest"
}

fn ends(done: &Done, exit: i32, says: &[&str]) {
    assert_eq!(done.exit, Some(exit), "{}", done.stderr);
    for said in says {
        assert!(done.stderr.contains(said), "no `{said}` in {}", done.stderr);
    }
}

#[test]
fn an_old_manifest_file_is_replaced_by_one_without_extension() {
    let folder = rendered(&["a", "b"]);
    assert!(!folder.at("out/.ome-manifest.json").exists());
    std::fs::rename(folder.at("out/.ome-manifest"), folder.at("out/.ome-manifest.json")).unwrap();
    std::fs::remove_file(folder.at("in/b.yaml")).unwrap();
    ends(&folder.ome(RENDER), 0, &[]);
    assert!(!folder.at("out/.ome-manifest.json").exists() && !folder.at("out/ns/b").exists());
    agrees(&folder, &[]);
}

/// Puts something into a folder, under this name.
type Put = fn(&Folder, &str);

/// Possible faults of an input.
const FAULTS: [(&str, Put); 9] = [
    ("a syntax error", |folder, file| {
        folder.write(file, "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: a: b\n");
    }),
    ("bytes that are not UTF-8", |folder, file| folder.write(file, b"a: \xe9\n")),
    ("an unknown kind of an operator's group", |folder, file| {
        folder.write(file, service("x", 1).replace("InferenceService", "InferenceServic"));
    }),
    ("an object without a name", |folder, file| {
        folder.write(file, service("x", 1).replace("name: x, ", ""));
    }),
    ("a service in error", |folder, file| {
        folder.write(file, service("x", 1).replace("name: m}", "name: unknown}"));
    }),
    ("a template", |folder, file| folder.write(file, "{{ if .Values.x }}\na: 1\n{{ end }}\n")),
    ("a file that is too large", |folder, file| folder.write(file, "a".repeat(9 << 20))),
    ("a link to nothing", |folder, file| link(folder, "nothing", file)),
    ("a FIFO", |folder, file| fifo(folder, file)),
];

#[cfg(unix)]
fn link(folder: &Folder, to: &str, name: &str) {
    std::os::unix::fs::symlink(to, folder.at(name)).expect("a link");
}

#[cfg(not(unix))]
fn link(folder: &Folder, _: &str, name: &str) {
    folder.write(name, "a: b: c\n");
}

#[cfg(unix)]
fn fifo(folder: &Folder, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(folder.at(name)).status();
    assert!(made.expect("mkfifo").success());
}

#[cfg(not(unix))]
fn fifo(folder: &Folder, name: &str) {
    folder.write(name, "a: b: c\n");
}

#[test]
fn nothing_is_removed_unless_the_whole_input_was_read() {
    for (fault, put) in FAULTS {
        let folder = rendered(&["a", "b"]);
        let before = state(&folder);
        // One service cannot be read any more, and another one is new.
        std::fs::remove_file(folder.at("in/b.yaml")).unwrap();
        put(&folder, "in/b.yaml");
        folder.write("in/c.yaml", service("c", 1));
        let done = folder.ome(RENDER);
        ends(&done, 1, &["nothing was removed from out", "6 files"]);
        let after = state(&folder);
        for (name, content) in before.iter().filter(|(name, _)| *name != ".ome-manifest") {
            assert_eq!(after.get(name), Some(content), "{fault}: {name}");
        }
        assert!(folder.at(&deployment("c")).exists(), "{fault}: what can be read is written");
        agrees(&folder, &[]);
        // And when it is mended, the service goes.
        std::fs::remove_file(folder.at("in/b.yaml")).unwrap();
        ends(&folder.ome(RENDER), 0, &[]);
        assert!(!folder.at("out/ns/b").exists(), "{fault}");
        agrees(&folder, &[]);
    }
}

#[test]
fn paths_that_cannot_be_read_remove_nothing() {
    let folder = rendered(&["a"]);
    link(&folder, "nothing", "dangling.yaml");
    fifo(&folder, "socket.yaml");
    let before = state(&folder);
    for (path, why) in [
        ("nowhere", "`nowhere` was not read: there is no such file"),
        ("dangling.yaml", "`dangling.yaml` was not read: it is a link that leads nowhere"),
        ("/dev/zero", "`/dev/zero` was not read: it is a device"),
    ] {
        let done = folder.ome(&format!("render -f {path} -o dir=out --no-builtin --no-config"));
        ends(&done, 1, &["file-not-read", "nothing was removed from out", why]);
        assert_eq!(state(&folder), before, "{path}");
    }
    // No setting makes it harmless.
    folder.write("ome.toml", "[severity]\nfile-not-read = \"off\"\n");
    let done = folder.ome("render -f nowhere -o dir=out --no-builtin");
    ends(&done, 1, &["nothing was removed from out"]);
    assert_eq!(state(&folder), before);
}

#[test]
fn unlisted_files_are_never_overwritten() {
    let folder = rendered(&["a"]);
    folder.write("in/b.yaml", service("b", 1));
    folder.write("in/a.yaml", service("a", 2));
    folder.write(&deployment("b"), "mine");
    folder.write("out/ns/a/deployment-a-engine.yaml.tmp", "mine");
    folder.write("out/.ome-backup.tmp", "mine");
    let before = state(&folder);
    for flags in ["", " --force"] {
        let done = folder.ome(&format!("{RENDER}{flags}"));
        let said = format!("{} is in the way: not written by ome", deployment("b"));
        ends(&done, 1, &[&said, "file-in-the-way"]);
        assert_eq!(state(&folder), before, "nothing is written at all");
    }
    std::fs::remove_file(folder.at(&deployment("b"))).unwrap();
    ends(&folder.ome(RENDER), 0, &[]);
    agrees(&folder, &["ns/a/deployment-a-engine.yaml.tmp", ".ome-backup.tmp"]);
    assert_eq!(folder.read("out/.ome-backup.tmp"), "mine");
}

#[test]
fn edits_by_hand_are_given_up_by_force_only() {
    let folder = rendered(&["a", "b"]);
    folder.write(&deployment("a"), "edited");
    folder.write(&deployment("b"), "edited");
    folder.write("in/a.yaml", service("a", 2));
    std::fs::remove_file(folder.at("in/b.yaml")).unwrap();
    let before = state(&folder);
    let done = folder.ome(RENDER);
    let overwritten =
        format!("{} was edited by hand since ome wrote it and is not overwritten", deployment("a"));
    let removed =
        format!("{} was edited by hand since ome wrote it and is not removed", deployment("b"));
    ends(&done, 1, &[&overwritten, &removed, "file-edited", "--force"]);
    assert_eq!(state(&folder), before);
    ends(&folder.ome(&format!("{RENDER} --force")), 0, &[]);
    assert!(folder.read(&deployment("a")).contains("round-2") && !folder.at("out/ns/b").exists());
    agrees(&folder, &[]);
}

#[cfg(unix)]
#[test]
fn modes_owners_and_links_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = rendered(&["a"]);
    let file = folder.at(&deployment("a"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    // Only root gives files away.
    let given = chown(&file, Some(12345), Some(23456)).is_ok();
    folder.write("in/a.yaml", service("a", 2));
    ends(&folder.ome(RENDER), 0, &[]);
    let data = std::fs::metadata(&file).unwrap();
    assert_eq!(data.mode() & 0o777, 0o640);
    assert!(!given || (data.uid(), data.gid()) == (12345, 23456));

    // A link within the directory is written through, a second name is never parted from the first.
    std::fs::rename(&file, folder.at("out/real")).unwrap();
    link(&folder, "../../real", &deployment("a"));
    folder.write("in/a.yaml", service("a", 3));
    ends(&folder.ome(RENDER), 0, &[]);
    assert!(file.is_symlink() && folder.read("out/real").contains("round-3"));
    std::fs::remove_file(&file).unwrap();
    std::fs::rename(folder.at("out/real"), &file).unwrap();
    std::fs::hard_link(&file, folder.at("backup")).unwrap();
    folder.write("in/a.yaml", service("a", 4));
    let before = state(&folder);
    ends(&folder.ome(RENDER), 1, &["is one of 2 hard links"]);
    assert_eq!((state(&folder), std::fs::metadata(&file).unwrap().nlink()), (before, 2));
}

/// A runtime with a repair, and its text when it is repaired.
fn repairable() -> (String, String) {
    let text = CATALOG.replace("    runner:", "    minReplicas: \"1\"\n    runner:");
    (text.clone(), text.replace("\"1\"\n", "1\n"))
}

#[cfg(unix)]
#[test]
fn repairs_keep_modes_and_links() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let (text, repaired) = repairable();
    let folder =
        Folder::new(&[("real", &text), ("a.yaml.ome-tmp", "mine"), (".ome-tmp.tmp", "mine")]);
    std::fs::set_permissions(folder.at("real"), std::fs::Permissions::from_mode(0o604)).unwrap();
    link(&folder, "real", "a.yaml");
    let fix = "validate a.yaml --fix --no-builtin --no-config";
    ends(&folder.ome(fix), 0, &["repaired"]);
    assert!(folder.at("a.yaml").is_symlink());
    assert_eq!(folder.read("real"), repaired);
    assert_eq!(std::fs::metadata(folder.at("real")).unwrap().mode() & 0o777, 0o604);
    assert_eq!(folder.names(""), [".ome-tmp.tmp", "a.yaml", "a.yaml.ome-tmp", "real"]);

    folder.write("real", &text);
    std::fs::hard_link(folder.at("real"), folder.at("twin")).unwrap();
    ends(&folder.ome(fix), 2, &["not repaired", "is one of 2 hard links"]);
    assert_eq!(folder.read("twin"), text);
}

#[cfg(unix)]
#[test]
fn an_import_keeps_links() {
    let config = r#"{"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100, "intermediate_size": 128, "num_attention_heads": 4, "model_type": "llama"}"#;
    let model = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata:\n  name: m\nspec:\n  storage: {storageUri: \"hf://a/b\"}\n";
    let folder = Folder::new(&[("config.json", config), ("real", model)]);
    link(&folder, "real", "m.yaml");
    ends(&folder.ome("import config.json --into m.yaml"), 0, &[]);
    assert!(folder.at("m.yaml").is_symlink());
    assert!(folder.read("real").contains("LlamaForCausalLM"), "{}", folder.read("real"));
    std::fs::hard_link(folder.at("real"), folder.at("twin")).unwrap();
    folder.write("real", model);
    ends(&folder.ome("import config.json --into m.yaml"), 1, &["is one of 2 hard links"]);
    assert_eq!(folder.read("twin"), model);
}

#[test]
fn a_baseline_replaces_a_baseline_only() {
    let folder = Folder::new(&[("a.yaml", &repairable().0)]);
    let update = |file: &str| {
        folder.ome(&format!(
            "validate a.yaml --baseline {file} --update-baseline --no-builtin --no-config"
        ))
    };
    for _ in 0..2 {
        ends(&update("baseline.json"), 0, &["written"]);
    }
    let before = folder.read("a.yaml");
    folder.write("empty", "");
    ends(&update("a.yaml"), 1, &["a.yaml is in the way: it is no baseline"]);
    ends(&update("empty"), 1, &["empty is in the way"]);
    ends(&update("."), 1, &["no regular file"]);
    assert_eq!(folder.read("a.yaml"), before);
    if cfg!(unix) {
        fifo(&folder, "pipe");
        ends(&update("pipe"), 1, &["no regular file"]);
        ends(&update("/dev/null"), 1, &["no regular file"]);
        link(&folder, "nowhere", "dangling");
        ends(&update("dangling"), 1, &["dangling"]);
        assert!(folder.at("dangling").is_symlink() && !folder.at("nowhere").exists());
        link(&folder, "baseline.json", "linked");
        ends(&update("linked"), 0, &["written"]);
        assert!(folder.at("linked").is_symlink());
    }
}

#[test]
fn kustomizations_list_the_written_files() {
    let folder = rendered(&["a", "b"]);
    let listed = |path: &str| -> Vec<String> {
        let text = folder.read(path);
        assert!(
            text.starts_with(
                "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
            ),
            "{text}"
        );
        text.lines().filter_map(|line| line.strip_prefix("- ")).map(ToOwned::to_owned).collect()
    };
    let objects = || -> Vec<String> {
        let names = folder.names("out").into_iter();
        names.filter(|name| name.matches('/').count() == 2).collect()
    };
    ends(&folder.ome(&format!("{RENDER} --kustomization")), 0, &[]);
    assert_eq!(listed("out/kustomization.yaml"), objects());
    agrees(&folder, &[]);
    let check = "render -f in --check out --no-builtin --no-config --kustomization";
    ends(&folder.ome(check), 0, &[]);
    let done = folder.ome(&format!("{check} --layout namespace"));
    assert_eq!(done.exit, Some(2));
    assert_eq!(done.stdout, "differs (stale) kustomization.yaml\nmissing ns/kustomization.yaml\n");
    ends(&folder.ome(&format!("{RENDER} --kustomization --layout namespace")), 0, &[]);
    assert_eq!(listed("out/kustomization.yaml"), ["ns"]);
    let below: Vec<String> =
        objects().iter().map(|path| path.trim_start_matches("ns/").to_owned()).collect();
    assert_eq!(listed("out/ns/kustomization.yaml"), below);
    agrees(&folder, &[]);
    for flags in ["--kustomization", "--force"] {
        let done = folder.ome(&format!("render -f in --no-config {flags}"));
        ends(&done, 1, &["-o dir=PATH"]);
    }
    if Path::new("/usr/local/bin/kubectl").exists() {
        let built = std::process::Command::new("kubectl")
            .args(["kustomize"])
            .arg(folder.at("out"))
            .output()
            .expect("kubectl");
        let text = String::from_utf8_lossy(&built.stdout).into_owned();
        assert_eq!(text.matches("\nkind: Deployment\n").count(), 2, "{built:?}");
    }
}

#[cfg(unix)]
#[test]
fn on_a_full_disk_everything_stays_as_it_was_and_no_lock_is_left() {
    let folder = rendered(&["a"]);
    let before = state(&folder);
    folder.write("in/a.yaml", service("a", 2));
    // No file takes a byte. The signal of that is ignored, so that the write fails as on a full disk.
    let script = format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" {RENDER}");
    let mut shell = in_directory("sh", folder.path());
    let done = shell.args(["-c", &script]).arg(binary()).output().expect("a shell");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains(".ome-lock"), "{said}");
    assert_eq!(state(&folder), before);
}
