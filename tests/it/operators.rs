//! Operators as folders: every field of a release is read somewhere, every part of an operator is
//! documented, and overridden values are recorded only for commands that print them.

use crate::architecture::{below_src, files, sources};
use std::collections::BTreeSet;
use std::path::Path;

/// Items of a kind in a text: name and body of `pub struct NAME {…}` or `pub enum NAME {…}`.
fn items<'t>(text: &'t str, kind: &str) -> Vec<(&'t str, &'t str)> {
    let start = format!("pub {kind} ");
    let begins = text.match_indices(&start).map(|(at, _)| at + start.len());
    begins
        .filter_map(|at| {
            let rest = &text[at..];
            let end = rest.find("\n}")?;
            let (name, body) = rest[..end].split_once('{')?;
            (!name.contains('(')).then(|| (name.trim(), body))
        })
        .collect()
}

/// The texts of the policies, and of everything else that is neither them nor a list of releases.
fn policies_and_others() -> (Vec<String>, String, String) {
    let (mut policies, mut releases, mut others) = (Vec::new(), String::new(), String::new());
    for file in files() {
        let path = Path::new(&file.path);
        if path == Path::new("policy/upgrade.rs") {
            // The preview's text about a rule is not a use of it.
        } else if path.starts_with("policy")
            || path == Path::new("policy.rs")
            || (path.starts_with("operators")
                && path.ends_with("rules.rs")
                && path.components().count() == 3)
        {
            policies.push(file.code);
        } else if path.ends_with("releases.rs") && path.starts_with("operators") {
            releases.push_str(&file.code);
        } else {
            others.push_str(&file.code);
        }
    }
    (policies, releases, others)
}

/// Whether a text has a word behind a mark: `.merge` and not `.merges`.
fn has(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let next = text[at + word.len()..].chars().next();
        next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
    })
}

#[test]
fn every_release_policy_field_is_read_by_a_rule() {
    let (policies, _, others) = policies_and_others();
    let mut unread = Vec::new();
    let mut seen = 0;
    for (name, body) in policies.iter().flat_map(|text| items(text, "struct")) {
        if !["Policy", "OmeRelease", "KServeRelease", "KthenaRelease"].contains(&name) {
            continue;
        }
        for field in body.lines().filter_map(|line| line.trim().strip_prefix("pub ")) {
            let field = field.split(':').next().expect("a name");
            seen += 1;
            // A rule reads it, or the preview of an upgrade lists its change.
            let asked = has(&others, &format!(".{field}"));
            if !asked && !others.contains(&format!("[{field}]")) {
                unread.push(format!("{name}.{field}"));
            }
        }
    }
    assert!(seen > 80, "the fields are seen: {seen}");
    assert_eq!(unread, Vec::<String>::new(), "set by a release and asked by nobody");
}

#[test]
fn every_rule_variant_is_set_by_a_release() {
    let (policies, releases, _) = policies_and_others();
    let mut unset = Vec::new();
    let mut seen = 0;
    for (name, body) in policies.iter().flat_map(|text| items(text, "enum")) {
        if !name.ends_with("Rule") {
            continue;
        }
        let variants = body.lines().map(str::trim).filter(|line| {
            line.starts_with(char::is_uppercase) && (line.ends_with(',') || line.ends_with('{'))
        });
        for variant in variants {
            let end = variant.find(|c: char| !c.is_alphanumeric()).unwrap_or(variant.len());
            seen += 1;
            if !has(&releases, &format!("{name}::{}", &variant[..end])) {
                unset.push(format!("{name}::{}", &variant[..end]));
            }
        }
    }
    assert!(seen > 40, "the ways are seen: {seen}");
    assert_eq!(unset, Vec::<String>::new(), "no release does it so");
}

#[test]
fn every_operator_has_a_folder_and_a_docs_page() {
    let folders: BTreeSet<String> = sources()
        .iter()
        .filter_map(|(path, _)| {
            let mut parts = below_src(path).iter().map(|part| part.to_string_lossy());
            (parts.next()? == "operators").then_some(())?;
            let folder = parts.next()?.into_owned();
            (!folder.contains('.')).then_some(folder)
        })
        .collect();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    // The rules of OME are those that the page of rules begins with.
    let page =
        |folder: &str| if folder == "ome" { "rules.md".into() } else { format!("{folder}.md") };
    assert!(folders.len() >= 4, "{folders:?}");
    for folder in &folders {
        assert!(docs.join(page(folder)).is_file(), "docs/{} is missing", page(folder));
    }
    let released = ome::internals::operators::released().map(|(name, _)| name.to_owned());
    for name in released {
        assert!(folders.contains(&name), "{name} has no folder");
        let text = std::fs::read_to_string(docs.join("releases.md")).expect("a page");
        assert!(text.contains(&format!("| `{name}` | `")), "docs/releases.md has no row of {name}");
    }
}

/// `plan`, `validate`, `diff` and everything else merge with `()`, which is nothing.
#[test]
fn merge_history_is_kept_only_by_render_why_and_leaves() {
    let keepers: Vec<String> = files()
        .into_iter()
        .filter(|file| has(&file.code, "Recorder::new") && !file.path.starts_with("merge/"))
        .map(|file| file.path)
        .collect();
    let shown = ["cli/commands/render.rs", "cli/commands/why.rs", "pipeline/leaves.rs"];
    assert_eq!(keepers, shown);
    assert_eq!(size_of::<()>(), 0);
}
