//! A directory of rendered files in a repository of git: branches, and clones with other line ends.

use super::{RENDER, deployment, rendered, service, state};

#[test]
fn a_repository_learns_how_to_merge_and_keep_the_files() {
    let folder = rendered(&["a"]);
    assert!(!folder.at("out/.gitattributes").exists(), "no repository");
    folder.write(".git/HEAD", "ref: refs/heads/main\n");
    folder.write("in/a.yaml", service("a", 2));
    folder.ome(RENDER);
    let own = folder.read("out/.gitattributes");
    assert!(own.contains(".ome-manifest merge=union -text\n") && own.contains("*.yaml -text\n"));
    // One of the user stays.
    folder.write("out/.gitattributes", "*.yaml text\n");
    folder.write("in/a.yaml", service("a", 3));
    folder.ome(RENDER);
    assert_eq!(folder.read("out/.gitattributes"), "*.yaml text\n");
}

#[test]
fn line_ends_that_a_clone_changed_are_no_edits() {
    let folder = rendered(&["a"]);
    for (name, text) in state(&folder) {
        folder.write(&format!("out/{name}"), text.replace('\n', "\r\n"));
    }
    let check = "render -f in --check out --no-builtin --no-config";
    assert_eq!(folder.ome(check).exit, Some(0));
    folder.write("in/a.yaml", service("a", 2));
    let done = folder.ome(RENDER);
    assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""));
    assert!(folder.read(&deployment("a")).contains("round-2"));
    assert_eq!(folder.ome(check).exit, Some(0));
}

#[test]
fn a_manifest_with_the_marks_of_a_conflict_has_the_files_of_both_branches() {
    // Two branches that add a service each, and git's text of both.
    let [one, two] = ["b", "c"].map(|name| state(&rendered(&["a", name])));
    let folder = rendered(&["a", "b", "c"]);
    let list = ".ome-manifest";
    let conflict = format!("<<<<<<< one\n{}=======\n{}>>>>>>> two\n", one[list], two[list]);
    folder.write("out/.ome-manifest", conflict);
    for name in ["a", "b", "c"] {
        folder.write(&format!("in/{name}.yaml"), service(name, 2));
    }
    let done = folder.ome(RENDER);
    assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""));
    for name in ["a", "b", "c"] {
        assert!(folder.read(&deployment(name)).contains("round-2"), "{name}");
    }
    let whole: serde_json::Value =
        serde_json::from_str(&folder.read("out/.ome-manifest")).expect("JSON");
    assert_eq!(whole["files"].as_array().map(Vec::len), Some(state(&folder).len() - 1));
}

#[test]
fn a_directory_in_which_nothing_is_to_do_may_be_read_only() {
    let folder = rendered(&["a"]);
    let before = state(&folder);
    let sealed = |sealed: bool| {
        let of = |path: &str| {
            let path = folder.at(path);
            let mut rights = std::fs::metadata(&path).expect("it is there").permissions();
            rights.set_readonly(sealed);
            std::fs::set_permissions(path, rights).expect("rights can be set");
        };
        ["out", "out/ns", "out/ns/a"].into_iter().for_each(of);
    };
    sealed(true);
    let done = folder.ome(RENDER);
    sealed(false);
    assert_eq!((done.exit, done.stderr.as_str()), (Some(0), ""));
    assert_eq!(state(&folder), before);
}
