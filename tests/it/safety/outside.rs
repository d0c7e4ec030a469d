//! Links and paths that lead out of what was named.

use crate::process::Folder;
use std::os::unix::fs::symlink;

const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: NAME, annotations: {a: on}}\n";
const SERVICE: &str = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: NAME, namespace: marsh}\nspec: {predictor: {containers: [{name: kserve-container, image: \"r.example/x:1\"}]}}\n";

fn named(text: &str, name: &str) -> String {
    text.replace("NAME", name)
}

/// A tree with links to a file and to a directory outside of it.
fn tree() -> Folder {
    let folder = Folder::new(&[
        ("home/s.yaml", &named(SERVICE, "elsewhere")),
        ("home/credentials", "login: zq-1\n  broken: zq-2\n"),
        ("repo/s.yaml", &named(SERVICE, "inside")),
    ]);
    symlink("../home", folder.at("repo/directory")).expect("a link");
    symlink("../home/credentials", folder.at("repo/file.yaml")).expect("a link");
    folder
}

#[test]
fn links_that_lead_out_are_not_read() {
    let folder = tree();
    for call in ["validate .", "validate . -o json", "plan -f .", "render --pass-through -f ."] {
        let done = folder.ome_below("repo", &format!("{call} --no-builtin"), &[]);
        let all = format!("{}{}", done.stdout, done.stderr);
        assert!(!all.contains("zq") && !all.contains("elsewhere"), "{call}: {done:?}");
        for link in ["file.yaml", "directory"] {
            assert!(all.contains(&format!("`{link}` was not read")), "{call}: {done:?}");
        }
        assert!(all.contains("--follow-outside"), "{call}: {done:?}");
    }
    // A part of the input that was not read removes nothing of the output.
    folder.write("repo/t.yaml", named(SERVICE, "second"));
    folder.ome_below("repo", "render -f t.yaml -o dir=../out --no-builtin", &[]);
    std::fs::remove_file(folder.at("repo/t.yaml")).expect("a file");
    let done = folder.ome_below("repo", "render -f . -o dir=../out --no-builtin", &[]);
    assert!(done.exit == Some(1) && done.stderr.contains("nothing was removed"), "{done:?}");
    assert!(folder.at("out/marsh/second").exists(), "{done:?}");
}

#[test]
fn follow_outside_reads_them_and_shows_no_line() {
    let folder = tree();
    let done = folder.ome_below("repo", "plan -f . --follow-outside --no-builtin", &[]);
    assert!(done.stdout.contains("elsewhere") && done.stdout.contains("inside"), "{done:?}");
    for format in ["human", "html", "json", "sarif", "github"] {
        let call = format!("validate . --follow-outside --min-severity info -o {format}");
        let done = folder.ome_below("repo", &call, &[]);
        let all = format!("{}{}", done.stdout, done.stderr);
        assert!(all.contains("file.yaml") && !all.contains("zq"), "{call}: {done:?}");
    }
}

#[test]
fn links_within_the_named_paths_are_followed() {
    let folder = Folder::new(&[("base/s.yaml", &named(SERVICE, "shared"))]);
    folder.write("over/t.yaml", named(SERVICE, "own"));
    symlink("../base", folder.at("over/base")).expect("a link");
    let shown = |args: &str| folder.ome(&format!("plan --no-builtin {args}")).stdout;
    assert!(shown("-f .").contains("shared"));
    assert!(shown("-f over -f base").contains("shared"));
    assert!(!shown("-f over").contains("shared"));
    // What is named is read, whatever it is; a directory that is named is no link out.
    assert!(shown("-f over/base").contains("shared"));
    symlink("../base/s.yaml", folder.at("over/named.yaml")).expect("a link");
    assert!(shown("-f over/named.yaml").contains("shared"));
}

#[test]
fn repairs_never_leave_the_named_paths() {
    let folder = Folder::new(&[("home/n.yaml", &named(NODE, "egret")), ("repo/c.yaml", "")]);
    let before = folder.read("home/n.yaml");
    folder.write("repo/c.yaml", &before);
    symlink("../home/n.yaml", folder.at("repo/b.yaml")).expect("a link");
    for call in ["--fix .", "--fix . --follow-outside", "--fix b.yaml"] {
        folder.ome_below("repo", &format!("validate {call}"), &[]);
        assert_eq!(folder.read("home/n.yaml"), before, "{call}");
    }
    assert!(folder.read("repo/c.yaml").contains("a: \"on\""), "{}", folder.read("repo/c.yaml"));
}

#[test]
fn paths_of_found_settings_stay_below_their_directory() {
    let folder = Folder::new(&[
        ("other/s.yaml", &named(SERVICE, "elsewhere")),
        ("repo/lib/s.yaml", &named(SERVICE, "library")),
        ("repo/here/s.yaml", &named(SERVICE, "inside")),
        ("repo/ome.toml", "paths = [\"lib\"]\n"),
    ]);
    let plan = |args: &str| folder.ome_below("repo/here", &format!("plan -f . {args}"), &[]);
    let done = plan("--no-builtin");
    assert!(done.stdout.contains("library") && done.stdout.contains("inside"), "{done:?}");
    folder.write("repo/ome.toml", "paths = [\"../other\"]\n");
    let done = plan("--no-builtin");
    assert_eq!(done.exit, Some(1), "{done:?}");
    assert!(done.stderr.contains("file-not-read"), "{done:?}");
    assert!(!done.stdout.contains("elsewhere"), "{done:?}");
    for permit in ["--follow-outside", "--config ../ome.toml"] {
        let done = plan(&format!("--no-builtin {permit}"));
        assert!(done.stdout.contains("elsewhere"), "{permit}: {done:?}");
    }
}

/// The id of a model is text of a manifest, and names no file elsewhere.
#[test]
fn a_model_id_does_not_lead_out_of_the_directory_of_configs() {
    let model = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec: {storage: {storageUri: \"hf://../secret\"}}\n";
    let config = "{\"architectures\": [\"ZqForCausalLM\"], \"model_type\": \"zq\"}";
    let folder = Folder::new(&[("m.yaml", model), ("secret/config.json", config)]);
    folder.write("configs/a/b/config.json", config);
    let done = folder.ome("catalog models -f m.yaml --model-configs configs --no-builtin -o json");
    assert!(!done.stdout.contains("ZqForCausalLM"), "{done:?}");
}
