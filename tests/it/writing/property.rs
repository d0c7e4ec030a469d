//! Whatever is wrong with the input, no file that existed before is gone unless its service was
//! removed from an input that was read as a whole. A model of the directory beside the real one.

use super::{CATALOG, FAULTS, deployment, is_left, service, state};
use crate::process::Folder;
use ome::cli::{self, Io};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ffi::OsString;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// The change of a service and of its files between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    Changes,
    Goes,
    Appears,
    /// Its file has one of the faults.
    Breaks(usize),
}

/// An action of the user in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    Nothing,
    /// Edits the Deployment.
    Edits,
    /// Removes the Deployment.
    Removes,
    /// Puts a file of their own beside it.
    Adds,
    /// Has a file of their own where the Deployment would be.
    Owns,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        3 => Just(Fate::Stays),
        2 => Just(Fate::Changes),
        3 => Just(Fate::Goes),
        1 => Just(Fate::Appears),
        1 => (0..FAULTS.len()).prop_map(Fate::Breaks),
    ]
}

fn hand() -> impl Strategy<Value = Hand> {
    prop_oneof![
        8 => Just(Hand::Nothing),
        1 => Just(Hand::Edits),
        1 => Just(Hand::Removes),
        2 => Just(Hand::Adds),
        1 => Just(Hand::Owns),
    ]
}

/// Renders in this process; returns the exit code and stderr.
fn render(folder: &Folder, flags: &[&str]) -> (u8, String) {
    let mut arguments: Vec<OsString> = vec!["ome".into(), "render".into(), "-f".into()];
    arguments.push(folder.at("in").into());
    arguments.push("-o".into());
    arguments.push(format!("dir={}", folder.at("out").display()).into());
    arguments
        .extend(["--no-builtin", "--no-config", "--max-file-size", "1MiB"].map(OsString::from));
    arguments.extend(flags.iter().map(OsString::from));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = cli::run(arguments, &mut Io::plain(&mut out, &mut err));
    (code, String::from_utf8_lossy(&err).into_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn render_removes_no_file_of_the_user_without_force(
        services in proptest::collection::vec((fate(), hand()), NAMES.len()),
        force: bool,
        kustomization: bool,
    ) {
        let folder = Folder::new(&[("in/catalog.yaml", CATALOG)]);
        let file = |name: &str| format!("in/{name}.yaml");
        let all = || NAMES.iter().copied().zip(services.iter().copied());
        for (name, (fate, _)) in all() {
            if fate != Fate::Appears {
                folder.write(&file(name), service(name, 1));
            }
        }
        let mut flags = if kustomization { vec!["--kustomization"] } else { Vec::new() };
        let (code, said) = render(&folder, &flags);
        prop_assert_eq!(code, 0, "{}", said);

        let mut conflict = false;
        for (name, (fate, hand)) in all() {
            let written = fate != Fate::Appears;
            match hand {
                Hand::Edits if written => {
                    folder.write(&deployment(name), "edited");
                    conflict |= !force && !matches!(fate, Fate::Breaks(_));
                }
                Hand::Removes if written => {
                    std::fs::remove_file(folder.at(&deployment(name))).expect("it was written");
                }
                Hand::Adds => folder.write(&format!("out/ns/{name}/mine.yaml"), "mine"),
                Hand::Owns if !written => {
                    folder.write(&deployment(name), "mine");
                    conflict = true;
                }
                _ => {}
            }
        }
        let mut whole = true;
        for (name, (fate, _)) in all() {
            match fate {
                Fate::Stays => {}
                Fate::Changes => folder.write(&file(name), service(name, 2)),
                Fate::Appears => folder.write(&file(name), service(name, 1)),
                Fate::Goes => std::fs::remove_file(folder.at(&file(name))).expect("it is there"),
                Fate::Breaks(fault) => {
                    std::fs::remove_file(folder.at(&file(name))).expect("it is there");
                    FAULTS[fault].1(&folder, &file(name));
                    whole = false;
                }
            }
        }
        // A service that goes is not looked at in a part of the input.
        let goes_edited = |(_, (fate, hand)): &(&str, (Fate, Hand))| *fate == Fate::Goes && *hand == Hand::Edits;
        let others = all().filter(|service| !goes_edited(service) || whole);
        let conflict = conflict && others.clone().any(|(_, (fate, hand))| match hand {
            Hand::Edits => fate != Fate::Appears && !matches!(fate, Fate::Breaks(_)) && !force,
            Hand::Owns => fate == Fate::Appears,
            _ => false,
        });

        // An input without any service removes nothing.
        let kept = conflict || (!force && all().all(|(_, (fate, _))| fate == Fate::Goes));

        let before = state(&folder);
        if force {
            flags.push("--force");
        }
        let (code, said) = render(&folder, &flags);
        let after = state(&folder);
        prop_assert_eq!(code == 0, whole && !kept, "{}", said);
        if kept {
            prop_assert_eq!(&after, &before, "{}", said);
            return Ok(());
        }
        let mut expected: BTreeMap<&str, bool> = BTreeMap::new();
        for name in before.keys() {
            let gone = all().any(|(service, (fate, _))| {
                fate == Fate::Goes && name.starts_with(&format!("ns/{service}/")) && !name.ends_with("mine.yaml")
            });
            expected.insert(name, !(gone && whole));
        }
        for (name, stays) in expected {
            prop_assert_eq!(after.contains_key(name), stays, "{}: {}", name, said);
            if name.ends_with("mine.yaml") {
                prop_assert_eq!(&after[name], "mine");
            }
        }
        for (name, (fate, _)) in all() {
            let path = deployment(name);
            if !matches!(fate, Fate::Goes | Fate::Breaks(_)) {
                let round = if fate == Fate::Changes { "round-2" } else { "round-1" };
                prop_assert!(folder.read(&path).contains(round), "{}", path);
            }
        }
        prop_assert!(!after.keys().any(|name| is_left(name)));
    }
}
