//! Files of a module that use each other in a circle, and files that are too long to read.

use crate::architecture::{File, below_src, files, sources};
use std::collections::{BTreeMap, BTreeSet};

/// The most lines of a file, tests included.
const MOST_LINES: usize = 800;

/// Longer files: the scanner of YAML, whose states belong together.
const TABLES: [&str; 1] = ["yaml/parse/scan.rs"];

/// Circles: recursions, each with its reason. The list only shrinks. A file that uses the module it
/// belongs to is no circle.
const CIRCLES: &[&[&str]] = &[
    // Values hold lists, lists hold values.
    &["merge/smp/list", "merge/smp/walk"],
    // A type is read from its table when it is first used, with the additions of the overlay.
    &["schema/overlay", "schema/table", "schema/types"],
    // A node is a map of nodes.
    &["yaml/map", "yaml/node"],
];

/// A module of the crate, from the root.
type Module = Vec<String>;

fn module(path: &str) -> Module {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

/// Every path below a `use` or an expression that begins at `text`, groups in braces taken apart;
/// what follows the path.
fn paths<'t>(text: &'t str, before: &[&'t str], found: &mut Vec<Vec<&'t str>>) -> &'t str {
    let mut path = before.to_vec();
    let mut rest = text.trim_start();
    loop {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if end > 0 {
            path.push(&rest[..end]);
            rest = &rest[end..];
            if let Some(next) = rest.strip_prefix("::") {
                rest = next.trim_start();
            } else {
                found.push(path);
                return rest;
            }
        } else if let Some(mut inner) = rest.strip_prefix('{') {
            loop {
                inner = inner.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
                if let Some(after) = inner.strip_prefix('}') {
                    return after;
                }
                let next = paths(inner, &path, found);
                if next.len() == inner.len() {
                    return next;
                }
                // `as NAME`
                inner = next.find([',', '}']).map_or("", |at| &next[at..]);
            }
        } else {
            found.push(path);
            return rest;
        }
    }
}

/// Modules of the same room that a file uses, but for those it belongs to.
fn uses(file: &File, own: &Module, all: &BTreeSet<Module>, room: usize) -> BTreeSet<Module> {
    let mut found = Vec::new();
    for word in ["crate::", "super::", "self::"] {
        for (at, _) in file.code.match_indices(word) {
            let inside = file.code[..at].chars().next_back();
            if !inside.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                paths(&file.code[at..], &[], &mut found);
            }
        }
    }
    // `use child::Item`
    for line in file.code.lines().filter_map(|line| line.strip_prefix("use ")) {
        let child = line.split("::").next().unwrap_or_default();
        if all.contains(&[own.as_slice(), &[child.to_owned()]].concat()) {
            found.push(vec!["self", child]);
        }
    }
    let mut used = BTreeSet::new();
    for path in found {
        let mut at = if path[0] == "crate" { Module::new() } else { own.clone() };
        for part in path {
            match part {
                "crate" | "self" => {}
                "super" => {
                    at.pop();
                }
                name => at.push(name.to_owned()),
            }
        }
        while !at.is_empty() && !all.contains(&at) {
            at.pop();
        }
        let same_room = at.len() >= room && at[..room] == own[..room.min(own.len())];
        if same_room && !own.starts_with(&at) {
            used.insert(at);
        }
    }
    used
}

/// The modules that can be reached from a module.
fn reached(from: &Module, edges: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Module> = edges[from].iter().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next.clone()) {
            open.extend(&edges[next]);
        }
    }
    seen
}

#[test]
fn files_of_a_module_have_no_unlisted_import_cycles() {
    let files = files();
    let all: BTreeSet<Module> = files.iter().map(|file| module(&file.path)).collect();
    let edges: BTreeMap<Module, BTreeSet<Module>> = files
        .iter()
        .map(|file| {
            let own = module(&file.path);
            let room = if own[0] == "operators" { 2 } else { 1 };
            let used = uses(file, &own, &all, room);
            (own, used)
        })
        .collect();
    let reach: BTreeMap<&Module, BTreeSet<Module>> =
        edges.keys().map(|own| (own, reached(own, &edges))).collect();
    let mut circles = BTreeSet::new();
    for (own, seen) in &reach {
        if seen.contains(*own) {
            let with = seen.iter().filter(|other| reach[other].contains(*own));
            circles.insert(with.map(|module| module.join("/")).collect::<Vec<_>>());
        }
    }
    let listed: BTreeSet<Vec<String>> = CIRCLES
        .iter()
        .map(|circle| circle.iter().map(|file| (*file).to_owned()).collect())
        .collect();
    let wrong: Vec<_> = circles.symmetric_difference(&listed).collect();
    assert!(wrong.is_empty(), "new, or listed and gone: {wrong:#?}");
}

#[test]
fn files_are_short() {
    let long: BTreeSet<String> = sources()
        .iter()
        .filter(|(_, text)| text.lines().count() > MOST_LINES)
        .map(|(path, _)| below_src(path).display().to_string())
        .collect();
    let listed = TABLES.iter().map(|name| (*name).to_owned()).collect();
    let wrong: Vec<_> = long.symmetric_difference(&listed).collect();
    assert!(wrong.is_empty(), "new, or listed and short now: {wrong:#?}");
}
