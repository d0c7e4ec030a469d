//! `-o dir=PATH` and `--check PATH`: a file per object, and a manifest of what was written.

use super::disk::Root;
use super::manifest::{self, Files};
use super::path::path_of;
use super::{Error, stream};
use crate::yaml::Node;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// Which files of earlier runs may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prune {
    /// All that are not written again.
    Everything,
    /// Those of these services alone, as `(namespace, name)`: the others were not asked for.
    Services(BTreeSet<(String, String)>),
}

/// What an earlier run left and what this one brings.
#[derive(Debug)]
struct Ledger {
    root: Root,
    prune: Prune,
    before: Files,
    now: Files,
    kept: BTreeSet<String>,
}

impl Ledger {
    fn open(root: &Path, prune: Prune) -> Result<Self, Error> {
        let root = Root::new(root);
        let before = match root.read(manifest::NAME)? {
            None => Files::new(),
            Some(bytes) => {
                let text = String::from_utf8(bytes).map_err(|error| error.to_string());
                text.and_then(|text| manifest::parse(&text)).map_err(|reason| Error::Manifest {
                    path: root.place(manifest::NAME),
                    reason,
                })?
            }
        };
        Ok(Self { root, prune, before, now: Files::new(), kept: BTreeSet::new() })
    }

    /// The path of an object that no other object of this run has.
    fn path(&self, object: &Node, namespace: &str, service: &str) -> Result<String, Error> {
        let path = path_of(object, namespace, service, false)?;
        if self.now.contains_key(&path) {
            path_of(object, namespace, service, true)
        } else {
            Ok(path)
        }
    }

    fn keep(&mut self, namespace: &str, service: &str) {
        self.kept.insert(format!("{namespace}/{service}/").to_lowercase());
    }

    /// Splits the files of earlier runs that are not written again into those that stay and those
    /// that go.
    fn rest(&self) -> (Files, Vec<String>) {
        let mut stay = Files::new();
        let mut go = Vec::new();
        for (path, sha256) in self.before.iter().filter(|(path, _)| !self.now.contains_key(*path)) {
            let asked = match &self.prune {
                Prune::Everything => true,
                Prune::Services(services) => services.iter().any(|(namespace, service)| {
                    path.starts_with(&format!("{namespace}/{service}/").to_lowercase())
                }),
            };
            if asked && !self.kept.iter().any(|service| path.starts_with(service)) {
                go.push(path.clone());
            } else {
                stay.insert(path.clone(), sha256.clone());
            }
        }
        (stay, go)
    }
}

fn sha256(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}

/// A directory that is being written.
#[derive(Debug)]
pub struct Directory(Ledger);

impl Directory {
    /// Opens a directory and reads the manifest of an earlier run; neither need be there.
    ///
    /// # Errors
    /// A manifest that cannot be read or leads elsewhere.
    pub fn open(root: &Path, prune: Prune) -> Result<Self, Error> {
        Ledger::open(root, prune).map(Self)
    }

    /// Writes an object of a service as YAML; a file that is right already is left alone.
    ///
    /// # Errors
    /// The file system's, a name that leads elsewhere, a link or a file in place of a directory.
    pub fn write(&mut self, object: &Node, namespace: &str, service: &str) -> Result<(), Error> {
        let path = self.0.path(object, namespace, service)?;
        self.write_text(path, &stream::text(object, stream::Format::Yaml))
    }

    /// Writes an object of a service whose YAML is made already, remarks included.
    ///
    /// # Errors
    /// As [`Directory::write`].
    pub fn write_as(
        &mut self,
        object: &Node,
        text: &str,
        namespace: &str,
        service: &str,
    ) -> Result<(), Error> {
        let path = self.0.path(object, namespace, service)?;
        self.write_text(path, text)
    }

    fn write_text(&mut self, path: String, text: &str) -> Result<(), Error> {
        if self.0.root.read(&path)?.as_deref() != Some(text.as_bytes()) {
            self.0.root.write(&path, text)?;
        }
        self.0.now.insert(path, sha256(text));
        Ok(())
    }

    /// Leaves the files of a service as they are: it is in error, and what was right before is
    /// better than nothing.
    pub fn keep(&mut self, namespace: &str, service: &str) {
        self.0.keep(namespace, service);
    }

    /// Removes what is no longer written and writes the manifest. Only files that a manifest lists
    /// are ever removed.
    ///
    /// # Errors
    /// The file system's.
    pub fn finish(self) -> Result<(), Error> {
        let (mut files, go) = self.0.rest();
        for path in &go {
            self.0.root.remove(path)?;
        }
        files.extend(self.0.now);
        self.0.root.write(manifest::NAME, &manifest::write(&files))
    }
}

/// How a file of a directory stands to what would be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It is not there.
    Missing,
    /// It holds something else.
    Differs,
    /// The manifest lists it and it would no longer be written.
    Unexpected,
}

/// A file that is not as it would be written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Path within the directory.
    pub path: String,
    /// What is wrong.
    pub state: State,
    /// From what the file holds to what would be written, as a unified diff; of a file that
    /// differs, when asked for.
    pub lines: Option<String>,
}

impl fmt::Display for Difference {
    /// `missing default/chat/service-chat.yaml`, and the lines that differ below it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Missing => "missing",
            State::Differs => "differs",
            State::Unexpected => "unexpected",
        };
        write!(f, "{state} {}", self.path)?;
        self.lines.as_ref().map_or(Ok(()), |lines| write!(f, "\n{}", lines.trim_end()))
    }
}

/// A directory that is being compared; nothing is written.
#[derive(Debug)]
pub struct Check {
    ledger: Ledger,
    differences: Vec<Difference>,
    lines: bool,
}

impl Check {
    /// Opens a directory; one that is not there is empty.
    ///
    /// # Errors
    /// A manifest that cannot be read or leads elsewhere.
    pub fn open(root: &Path, prune: Prune) -> Result<Self, Error> {
        Ok(Self { ledger: Ledger::open(root, prune)?, differences: Vec::new(), lines: false })
    }

    /// The same, keeping the lines that differ.
    #[must_use]
    pub fn with_lines(self, lines: bool) -> Self {
        Self { lines, ..self }
    }

    /// Compares an object of a service with its file.
    ///
    /// # Errors
    /// As [`Directory::write`].
    pub fn compare(&mut self, object: &Node, namespace: &str, service: &str) -> Result<(), Error> {
        self.compare_as(object, &stream::text(object, stream::Format::Yaml), namespace, service)
    }

    /// Compares an object of a service whose YAML is made already.
    ///
    /// # Errors
    /// As [`Directory::write`].
    pub fn compare_as(
        &mut self,
        object: &Node,
        text: &str,
        namespace: &str,
        service: &str,
    ) -> Result<(), Error> {
        let path = self.ledger.path(object, namespace, service)?;
        let difference = |state, lines| Difference { path: path.clone(), state, lines };
        self.differences.extend(match self.ledger.root.read(&path)? {
            None => Some(difference(State::Missing, None)),
            Some(found) if found != text.as_bytes() => Some(difference(
                State::Differs,
                self.lines.then(|| unified(&String::from_utf8_lossy(&found), text, &path)),
            )),
            Some(_) => None,
        });
        self.ledger.now.insert(path, String::new());
        Ok(())
    }

    /// Expects nothing of a service that is in error.
    pub fn keep(&mut self, namespace: &str, service: &str) {
        self.ledger.keep(namespace, service);
    }

    /// Everything that is not as it would be written, by path.
    pub fn finish(self) -> Vec<Difference> {
        let (_, go) = self.ledger.rest();
        let mut differences = self.differences;
        differences.extend(go.into_iter().map(|path| Difference {
            path,
            state: State::Unexpected,
            lines: None,
        }));
        differences.sort();
        differences
    }
}

/// A unified diff, as `git diff` shows it.
fn unified(before: &str, after: &str, path: &str) -> String {
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};
    use std::fs;
    use std::path::PathBuf;

    static GIVEN: Rule = Rule { id: "given", text: "Given by a test.", cite: "test" };

    /// A directory of its own for one test, gone when the test is over.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("ome-emit-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).expect("a temporary directory");
            Self(path)
        }

        fn root(&self) -> PathBuf {
            self.0.join("out")
        }

        fn files(&self) -> Vec<String> {
            fn walk(at: &Path, root: &Path, found: &mut Vec<String>) {
                for entry in fs::read_dir(at).into_iter().flatten().flatten() {
                    let path = entry.path();
                    if path.is_dir() {
                        walk(&path, root, found);
                    } else {
                        found.push(
                            path.strip_prefix(root)
                                .expect("below the root")
                                .to_string_lossy()
                                .into_owned(),
                        );
                    }
                }
            }
            let mut found = Vec::new();
            walk(&self.root(), &self.root(), &mut found);
            found.sort();
            found
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn object(kind: &str, name: &str, value: i64) -> Node {
        Node::from_json(
            &serde_json::json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "value": value}),
            Origin::Default(&GIVEN),
        )
    }

    fn write(scratch: &Scratch, objects: &[(Node, &str)]) {
        let mut directory = Directory::open(&scratch.root(), Prune::Everything).expect("opens");
        for (object, service) in objects {
            directory.write(object, "default", service).expect("writes");
        }
        directory.finish().expect("finishes");
    }

    fn check(scratch: &Scratch, objects: &[(Node, &str)]) -> Vec<String> {
        let mut check = Check::open(&scratch.root(), Prune::Everything).expect("opens");
        for (object, service) in objects {
            check.compare(object, "default", service).expect("compares");
        }
        check.finish().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_lines_that_differ_are_shown_when_asked_for() {
        let scratch = Scratch::new("lines");
        write(&scratch, &[(object("Service", "a", 1), "a"), (object("Service", "b", 1), "b")]);
        let mut check =
            Check::open(&scratch.root(), Prune::Everything).expect("opens").with_lines(true);
        for (name, number) in [("a", 1), ("b", 2)] {
            check.compare(&object("Service", name, number), "default", name).expect("compares");
        }
        let differences: Vec<String> = check.finish().iter().map(ToString::to_string).collect();
        let [only] = differences.as_slice() else { panic!("{differences:?}") };
        assert!(only.starts_with("differs default/b/service-b.yaml\n--- a/default/b/service-b.yaml\n+++ b/default/b/service-b.yaml\n@@ "), "{only}");
        let changed: Vec<&str> = only
            .lines()
            .skip(3)
            .filter(|line| line.starts_with(['-', '+']))
            .map(|line| &line[..1])
            .collect();
        assert_eq!(changed, ["-", "+"], "{only}");
    }

    #[test]
    fn what_is_no_longer_written_is_removed_and_nothing_else() {
        let scratch = Scratch::new("prune");
        write(&scratch, &[(object("Service", "a", 1), "a"), (object("Service", "b", 1), "b")]);
        fs::write(scratch.root().join("default/b/mine.txt"), "x").expect("writes");
        write(&scratch, &[(object("Service", "a", 1), "a")]);
        assert_eq!(
            scratch.files(),
            [".ome-manifest.json", "default/a/service-a.yaml", "default/b/mine.txt"]
        );
        fs::remove_file(scratch.root().join("default/b/mine.txt")).expect("removes");
        write(&scratch, &[(object("Service", "b", 1), "b")]);
        assert_eq!(scratch.files(), [".ome-manifest.json", "default/b/service-b.yaml"]);
        assert!(
            !scratch.root().join("default/a").exists(),
            "empty directories go with their files"
        );
    }

    #[test]
    fn a_check_names_what_is_missing_other_and_too_much() {
        let scratch = Scratch::new("check");
        let (a, b) = ((object("Service", "a", 1), "a"), (object("Service", "b", 1), "b"));
        assert_eq!(check(&scratch, std::slice::from_ref(&a)), ["missing default/a/service-a.yaml"]);
        write(&scratch, &[a.clone(), b]);
        assert!(check(&scratch, &[a, (object("Service", "b", 1), "b")]).is_empty());
        let changed = (object("Service", "a", 2), "a");
        assert_eq!(
            check(&scratch, &[changed, (object("Secret", "c", 1), "c")]),
            [
                "differs default/a/service-a.yaml",
                "unexpected default/b/service-b.yaml",
                "missing default/c/secret-c.yaml"
            ]
        );
    }

    #[test]
    fn files_of_services_in_error_or_not_asked_for_stay() {
        let scratch = Scratch::new("keep");
        write(&scratch, &[(object("Service", "a", 1), "a"), (object("Service", "b", 1), "b")]);
        let mut directory = Directory::open(&scratch.root(), Prune::Everything).expect("opens");
        directory.keep("default", "a");
        directory.finish().expect("finishes");
        assert_eq!(scratch.files(), [".ome-manifest.json", "default/a/service-a.yaml"]);
        let asked = Prune::Services([("default".to_owned(), "b".to_owned())].into());
        Directory::open(&scratch.root(), asked).expect("opens").finish().expect("finishes");
        assert_eq!(scratch.files(), [".ome-manifest.json", "default/a/service-a.yaml"]);
        write(&scratch, &[]);
        assert_eq!(scratch.files(), [".ome-manifest.json"]);
    }

    #[test]
    fn two_objects_of_one_path_are_told_apart_by_group() {
        let scratch = Scratch::new("group");
        let mut knative = object("Service", "a", 1);
        if let Some(map) = knative.as_map_mut() {
            map.insert("apiVersion", Node::str("serving.knative.dev/v1", Origin::Default(&GIVEN)));
        }
        write(&scratch, &[(object("Service", "a", 1), "a"), (knative, "a")]);
        assert_eq!(
            scratch.files(),
            [
                ".ome-manifest.json",
                "default/a/service-a.yaml",
                "default/a/service.serving.knative.dev-a.yaml"
            ]
        );
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let scratch = Scratch::new("link");
        let outside = scratch.0.join("outside");
        fs::create_dir_all(&outside).expect("creates");
        fs::write(outside.join("service-a.yaml"), "theirs").expect("writes");
        fs::create_dir_all(scratch.root().join("default")).expect("creates");
        std::os::unix::fs::symlink(&outside, scratch.root().join("default/a")).expect("links");
        let mut directory = Directory::open(&scratch.root(), Prune::Everything).expect("opens");
        assert!(matches!(
            directory.write(&object("Service", "a", 1), "default", "a"),
            Err(Error::Link(_))
        ));

        // A file that is a link is replaced; what it leads to stays.
        fs::create_dir_all(scratch.root().join("default/b")).expect("creates");
        std::os::unix::fs::symlink(
            outside.join("service-a.yaml"),
            scratch.root().join("default/b/service-b.yaml"),
        )
        .expect("links");
        directory.write(&object("Service", "b", 1), "default", "b").expect("writes");
        assert_eq!(
            fs::read_to_string(outside.join("service-a.yaml")).ok().as_deref(),
            Some("theirs")
        );

        // A manifest cannot have anything removed through a link either.
        fs::write(
            scratch.root().join(manifest::NAME),
            r#"{"files":[{"path":"default/a/service-a.yaml","sha256":""}]}"#,
        )
        .expect("writes");
        assert!(matches!(
            Directory::open(&scratch.root(), Prune::Everything).expect("opens").finish(),
            Err(Error::Link(_))
        ));
        assert_eq!(
            fs::read_to_string(outside.join("service-a.yaml")).ok().as_deref(),
            Some("theirs")
        );
    }

    #[test]
    fn a_manifest_that_leads_elsewhere_stops_everything() {
        let scratch = Scratch::new("manifest");
        fs::create_dir_all(scratch.root()).expect("creates");
        fs::write(
            scratch.root().join(manifest::NAME),
            r#"{"files":[{"path":"../../x/y.yaml","sha256":""}]}"#,
        )
        .expect("writes");
        assert!(matches!(
            Directory::open(&scratch.root(), Prune::Everything),
            Err(Error::Manifest { .. })
        ));
    }
}
