//! Directories that are written, compared and written again.

#![expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]

use super::*;
use crate::yaml::{Node, Origin, Rule};
use std::fs;

static GIVEN: Rule = Rule { id: "given", text: "Given by a test.", cite: "test" };

/// A directory for one test, deleted at its end.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn outside(&self) -> &Path {
        self.0.path()
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("out")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("creates");
        fs::write(path, text).expect("writes");
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn files(&self) -> Vec<String> {
        fn walk(at: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(at).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    let below = path.strip_prefix(root).expect("below the root");
                    found.push(below.display().to_string());
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.root(), &self.root(), &mut found);
        found.sort();
        found
    }
}

fn object(kind: &str, name: &str, value: i64) -> Node {
    Node::from_json(
        &serde_json::json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "value": value}),
        Origin::Default(&GIVEN),
    )
}

/// A Secret; its value is not shown.
fn secret(value: &str) -> Node {
    Node::from_json(
        &serde_json::json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}, "stringData": {"key": value}}),
        Origin::Default(&GIVEN),
    )
}

fn service(name: &'static str, value: i64) -> (Node, &'static str) {
    (object("Service", name, value), name)
}

fn all() -> Options {
    Options { prune: Prune::Everything, force: false, kustomization: None }
}

fn yaml(object: &Node) -> String {
    stream::text(object, stream::Format::Yaml)
}

fn try_write(
    scratch: &Scratch,
    options: Options,
    whole: bool,
    objects: &[(Node, &str)],
) -> Result<Done, Error> {
    let mut directory = Directory::open(&scratch.root(), options, &mut || {})?;
    for (object, service) in objects {
        directory.write(object, &yaml(object), "default", service)?;
    }
    directory.finish(whole)
}

fn write(scratch: &Scratch, objects: &[(Node, &str)]) {
    let done = try_write(scratch, all(), true, objects).expect("writes");
    assert!(done.refused.is_empty() && done.held == 0, "{done:?}");
}

fn refused(scratch: &Scratch, objects: &[(Node, &str)]) -> Vec<String> {
    let done = try_write(scratch, all(), true, objects).expect("looks");
    done.refused.iter().map(|finding| finding.message.clone()).collect()
}

fn check(scratch: &Scratch, objects: &[(Node, &str)]) -> Vec<String> {
    let mut check = Check::open(&scratch.root(), all()).expect("opens");
    for (object, service) in objects {
        check.compare(object, &yaml(object), "default", service).expect("compares");
    }
    check.finish(true).expect("compares").iter().map(ToString::to_string).collect()
}

#[test]
fn check_shows_the_differing_lines_on_request() {
    let scratch = Scratch::new();
    write(&scratch, &[service("a", 1), service("b", 1)]);
    let mut check = Check::open(&scratch.root(), all()).expect("opens").with_lines(true);
    for (object, name) in [service("a", 1), service("b", 2)] {
        check.compare(&object, &yaml(&object), "default", name).expect("compares");
    }
    let differences: Vec<String> =
        check.finish(true).expect("compares").iter().map(ToString::to_string).collect();
    let [only] = differences.as_slice() else { panic!("{differences:?}") };
    assert!(only.starts_with("differs (stale) default/b/service-b.yaml\n--- a/default/b/service-b.yaml\n+++ b/default/b/service-b.yaml\n@@ "), "{only}");
    let changed: Vec<&str> = only
        .lines()
        .skip(3)
        .filter(|line| line.starts_with(['-', '+']))
        .map(|line| &line[..1])
        .collect();
    assert_eq!(changed, ["-", "+"], "{only}");
}

#[test]
fn check_names_a_difference_that_is_not_shown() {
    let scratch = Scratch::new();
    write(&scratch, &[(secret("planted-1"), "c")]);
    let mut check = Check::open(&scratch.root(), all()).expect("opens").with_lines(true);
    let object = secret("planted-2");
    check.compare(&object, &yaml(&object), "default", "c").expect("compares");
    let differences: Vec<String> =
        check.finish(true).expect("compares").iter().map(ToString::to_string).collect();
    assert_eq!(
        differences,
        ["differs (stale) default/c/secret-c.yaml\nonly secret values differ: they are not shown"]
    );
}

#[test]
fn a_file_in_place_of_the_directory_is_named() {
    let scratch = Scratch::new();
    let file = scratch.outside().join("out");
    fs::write(&file, "text").expect("writes");
    for root in [file.clone(), file.join("below")] {
        let refused = Directory::open(&root, all(), &mut || {});
        assert!(
            matches!(&refused, Err(Error::NotADirectory(path)) if *path == file),
            "{refused:?}"
        );
    }
}

#[test]
fn files_that_are_no_longer_written_are_removed_and_no_others() {
    let scratch = Scratch::new();
    write(&scratch, &[service("a", 1), service("b", 1)]);
    scratch.put("default/b/mine.txt", "x");
    write(&scratch, &[service("a", 1)]);
    assert_eq!(
        scratch.files(),
        [".ome-manifest", "default/a/service-a.yaml", "default/b/mine.txt"]
    );
    fs::remove_file(scratch.at("default/b/mine.txt")).expect("removes");
    write(&scratch, &[service("b", 1)]);
    assert_eq!(scratch.files(), [".ome-manifest", "default/b/service-b.yaml"]);
    assert!(!scratch.at("default/a").exists(), "empty directories go with their files");
}

#[test]
fn a_check_names_missing_changed_and_unexpected_files() {
    let scratch = Scratch::new();
    let (a, b) = (service("a", 1), service("b", 1));
    assert_eq!(check(&scratch, std::slice::from_ref(&a)), ["missing default/a/service-a.yaml"]);
    assert!(!scratch.root().exists(), "a check writes nothing");
    write(&scratch, &[a.clone(), b.clone()]);
    assert!(check(&scratch, &[a, b]).is_empty());
    assert_eq!(
        check(&scratch, &[service("a", 2), (object("Secret", "c", 1), "c")]),
        [
            "differs (stale) default/a/service-a.yaml",
            "unexpected default/b/service-b.yaml",
            "missing default/c/secret-c.yaml"
        ]
    );
    std::fs::write(scratch.root().join("default/a/service-a.yaml"), "kind: Service\n").unwrap();
    assert_eq!(
        check(&scratch, &[service("a", 1), service("b", 1)]),
        ["differs (edited by hand) default/a/service-a.yaml"]
    );
}

#[test]
fn nothing_is_removed_after_a_part_of_the_input() {
    let scratch = Scratch::new();
    write(&scratch, &[service("a", 1), service("b", 1)]);
    let done = try_write(&scratch, all(), false, &[service("c", 1)]).expect("writes");
    assert_eq!(done.held, 2);
    // Written files are listed, and so are files that stayed.
    write(&scratch, &[service("a", 1)]);
    assert_eq!(scratch.files(), [".ome-manifest", "default/a/service-a.yaml"]);
    // Services that were not requested stay.
    let one = Prune::Services([("Default".to_owned(), "b".to_owned())].into());
    try_write(&scratch, Options { prune: one, ..all() }, true, &[]).expect("writes");
    assert_eq!(scratch.files(), [".ome-manifest", "default/a/service-a.yaml"]);
    write(&scratch, &[]);
    assert_eq!(scratch.files(), [".ome-manifest"]);
}

#[test]
fn files_of_the_user_are_never_touched() {
    let scratch = Scratch::new();
    write(&scratch, &[service("a", 1)]);
    scratch.put("default/b/service-b.yaml", "mine");
    let message = refused(&scratch, &[service("a", 2), service("b", 1)]);
    let place = scratch.at("default/b/service-b.yaml");
    assert_eq!(message, [format!("{} is in the way: not written by ome", place.display())]);
    assert_eq!(scratch.text("default/b/service-b.yaml"), "mine");
    assert_eq!(
        scratch.text("default/a/service-a.yaml"),
        yaml(&service("a", 1).0),
        "nothing else is written"
    );
    // Not even by force.
    let forced = Options { force: true, ..all() };
    let done = try_write(&scratch, forced, true, &[service("b", 1)]).expect("looks");
    assert_eq!(
        (done.refused.len(), scratch.text("default/b/service-b.yaml").as_str()),
        (1, "mine")
    );
    assert!(scratch.at("default/a/service-a.yaml").exists());
    // A file with the same content counts as written.
    scratch.put("default/b/service-b.yaml", &yaml(&service("b", 1).0));
    write(&scratch, &[service("b", 1)]);
    write(&scratch, &[service("b", 2)]);
    assert_eq!(scratch.files(), [".ome-manifest", "default/b/service-b.yaml"]);
    // A directory is in the way, too.
    fs::create_dir_all(scratch.at("default/c/service-c.yaml")).expect("creates");
    let refused = refused(&scratch, &[service("c", 1)]);
    assert!(refused[0].ends_with("not written by ome (it is a directory)"), "{refused:?}");
}

#[test]
fn edits_by_hand_are_kept_until_they_are_given_up() {
    let scratch = Scratch::new();
    write(&scratch, &[service("a", 1), service("b", 1)]);
    scratch.put("default/a/service-a.yaml", "edited");
    scratch.put("default/b/service-b.yaml", "edited");
    let refused = refused(&scratch, &[service("a", 1), service("c", 1)]);
    let says = |name: &str, spared: &str| {
        format!(
            "{} was edited by hand since ome wrote it and is not {spared}",
            scratch.at(name).display()
        )
    };
    assert_eq!(
        refused,
        [
            says("default/a/service-a.yaml", "overwritten"),
            says("default/b/service-b.yaml", "removed")
        ]
    );
    assert_eq!(
        scratch.files(),
        [".ome-manifest", "default/a/service-a.yaml", "default/b/service-b.yaml"]
    );
    let forced = Options { force: true, ..all() };
    let done = try_write(&scratch, forced, true, &[service("a", 1)]).expect("writes");
    assert!(done.refused.is_empty());
    assert_eq!(scratch.files(), [".ome-manifest", "default/a/service-a.yaml"]);
    assert_eq!(scratch.text("default/a/service-a.yaml"), yaml(&service("a", 1).0));
}

#[test]
fn a_manifest_with_the_old_name_is_replaced() {
    let scratch = Scratch::new();
    write(&scratch, &[service("a", 1), service("b", 1)]);
    fs::rename(scratch.at(".ome-manifest"), scratch.at(".ome-manifest.json")).expect("renames");
    assert_eq!(check(&scratch, &[service("a", 1)]), ["unexpected default/b/service-b.yaml"]);
    write(&scratch, &[service("a", 1), service("b", 1)]);
    assert_eq!(
        scratch.files(),
        [".ome-manifest", "default/a/service-a.yaml", "default/b/service-b.yaml"]
    );
    // Both, after a run that was killed between writing one and removing the other.
    fs::copy(scratch.at(".ome-manifest"), scratch.at(".ome-manifest.json")).expect("copies");
    write(&scratch, &[service("a", 2)]);
    assert_eq!(scratch.files(), [".ome-manifest", "default/a/service-a.yaml"]);
}

#[test]
fn a_run_that_changes_nothing_writes_nothing() {
    let scratch = Scratch::new();
    write(&scratch, &[service("a", 1)]);
    let times = || {
        let time = |path: &str| fs::metadata(scratch.at(path)).and_then(|data| data.modified());
        [".ome-manifest", "default/a/service-a.yaml"].map(|path| time(path).expect("a time"))
    };
    let before = times();
    write(&scratch, &[service("a", 1)]);
    assert_eq!(times(), before);
}

#[test]
fn objects_with_one_path_get_the_api_group_in_the_file_name() {
    let scratch = Scratch::new();
    let of_group = |version: &str| {
        let mut object = object("Service", "a", 1);
        if let Some(map) = object.as_map_mut() {
            map.insert("apiVersion", Node::str(version, Origin::Default(&GIVEN)));
        }
        (object, "a")
    };
    let knative = of_group("serving.knative.dev/v1");
    write(&scratch, &[service("a", 1), knative.clone()]);
    assert_eq!(
        scratch.files(),
        [
            ".ome-manifest",
            "default/a/service-a.yaml",
            "default/a/service.serving.knative.dev-a.yaml"
        ]
    );
    let third = of_group("serving.knative.dev/v2");
    let refused = try_write(&scratch, all(), true, &[service("a", 2), knative, third]);
    assert!(matches!(refused, Err(Error::Twice(_))), "{refused:?}");
    assert_eq!(scratch.text("default/a/service-a.yaml"), yaml(&service("a", 1).0));
}

#[test]
fn kustomizations_follow_the_files() {
    let scratch = Scratch::new();
    let listed = |path: &str| -> Vec<String> {
        scratch
            .text(path)
            .lines()
            .filter_map(|line| line.strip_prefix("- "))
            .map(ToOwned::to_owned)
            .collect()
    };
    let single = Options { kustomization: Some(Layout::Single), ..all() };
    let nested = Options { kustomization: Some(Layout::Namespace), ..all() };
    let both = [service("a", 1), service("b", 1)];
    try_write(&scratch, single.clone(), true, &both).expect("writes");
    assert_eq!(
        listed("kustomization.yaml"),
        ["default/a/service-a.yaml", "default/b/service-b.yaml"]
    );
    // Of a part of the input: the files that stay are listed, too, with or without the flag.
    for options in [single, all()] {
        try_write(&scratch, options, false, &[service("c", 1)]).expect("writes");
        assert_eq!(listed("kustomization.yaml").len(), 3);
    }
    try_write(&scratch, nested, true, &both).expect("writes");
    assert_eq!(listed("kustomization.yaml"), ["default"]);
    assert_eq!(listed("default/kustomization.yaml"), ["a/service-a.yaml", "b/service-b.yaml"]);
    // A service alone keeps both true.
    let one = Prune::Services([("default".to_owned(), "b".to_owned())].into());
    try_write(&scratch, Options { prune: one, ..all() }, true, &[]).expect("writes");
    assert_eq!(listed("default/kustomization.yaml"), ["a/service-a.yaml"]);
    // They are removed as other files, and the user's file stays.
    write(&scratch, &[service("a", 1)]);
    assert_eq!(scratch.files(), [".ome-manifest", "default/a/service-a.yaml"]);
    scratch.put("kustomization.yaml", "mine");
    let again = Options { kustomization: Some(Layout::Single), ..all() };
    let done = try_write(&scratch, again, true, &[service("a", 2)]).expect("looks");
    assert_eq!((done.refused.len(), scratch.text("kustomization.yaml").as_str()), (1, "mine"));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    let outside = scratch.outside().join("outside");
    fs::create_dir_all(&outside).expect("creates");
    let theirs = outside.join("service-a.yaml");
    fs::write(&theirs, "theirs").expect("writes");
    fs::create_dir_all(scratch.at("default")).expect("creates");
    symlink(&outside, scratch.at("default/a")).expect("links");
    let refused = try_write(&scratch, all(), true, &[service("a", 1)]);
    assert!(matches!(refused, Err(Error::Link(_))), "{refused:?}");

    // A manifest cannot have anything removed through a link either.
    scratch.put(".ome-manifest", r#"{"files":[{"path":"default/a/service-a.yaml","sha256":""}]}"#);
    let refused = try_write(&scratch, all(), true, &[]);
    assert!(matches!(refused, Err(Error::Link(_))), "{refused:?}");

    fs::remove_file(scratch.at("default/a")).expect("removes");
    fs::remove_file(scratch.at(".ome-manifest")).expect("removes");
    write(&scratch, &[service("a", 1)]);
    fs::remove_file(scratch.at("default/a/service-a.yaml")).expect("removes");
    symlink(&theirs, scratch.at("default/a/service-a.yaml")).expect("links");
    let refused = super::tests::refused(&scratch, &[service("a", 2)]);
    assert!(refused[0].ends_with("(it is a symbolic link that leads elsewhere)"), "{refused:?}");
    assert!(scratch.at("default/a/service-a.yaml").is_symlink());
    assert_eq!(fs::read_to_string(&theirs).ok().as_deref(), Some("theirs"));
}

#[cfg(unix)]
#[test]
fn modes_and_links_within_the_directory_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let scratch = Scratch::new();
    write(&scratch, &[service("a", 1), service("b", 1)]);
    let (a, b) = (scratch.at("default/a/service-a.yaml"), scratch.at("default/b/service-b.yaml"));
    fs::set_permissions(&a, fs::Permissions::from_mode(0o440)).expect("sets");
    fs::create_dir(scratch.at("shared")).expect("creates");
    fs::rename(&b, scratch.at("shared/b.yaml")).expect("moves");
    symlink("../../shared/b.yaml", &b).expect("links");
    write(&scratch, &[service("a", 2), service("b", 2)]);
    assert_eq!(fs::metadata(&a).expect("a file").mode() & 0o777, 0o440);
    assert!(b.is_symlink());
    assert_eq!(scratch.text("shared/b.yaml"), yaml(&service("b", 2).0));

    // One file cannot hold two.
    fs::remove_file(&b).expect("removes");
    symlink("../a/service-a.yaml", &b).expect("links");
    let forced = Options { force: true, ..all() };
    let done = try_write(&scratch, forced, true, &[service("a", 3), service("b", 3)]);
    assert_eq!(done.expect("looks").refused.len(), 1);
    assert!(b.is_symlink());

    fs::remove_file(&b).expect("removes");
    fs::hard_link(&a, scratch.outside().join("backup")).expect("links");
    let refused = refused(&scratch, &[service("a", 3)]);
    assert!(refused[0].contains("is one of 2 hard links"), "{refused:?}");
    assert_eq!(fs::metadata(&a).expect("a file").nlink(), 2);
    assert_eq!(scratch.text("default/a/service-a.yaml"), yaml(&service("a", 2).0));
}

#[test]
fn an_invalid_manifest_prevents_all_writes() {
    let scratch = Scratch::new();
    for text in [r#"{"files":[{"path":"../../x/y.yaml","sha256":""}]}"#, "<<<<<<< HEAD\n"] {
        scratch.put(".ome-manifest", text);
        let refused = try_write(&scratch, all(), true, &[service("a", 1)]);
        assert!(matches!(refused, Err(Error::Manifest { .. })), "{refused:?}");
        assert_eq!(scratch.files(), [".ome-manifest"]);
    }
}
