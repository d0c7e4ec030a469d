//! The list of files that earlier runs wrote: `.ome-manifest`, JSON without an extension.
//!
//! A name that ends in `.json` is read by `kubectl apply -R` and by Argo CD, and rejected without a
//! kind. Lists of that name, [`OLD`], are converted.
//!
//! While files are written, the list has two checksums for each: of the old and of the new content.
//! After a kill, both are files of this program.

use super::path::is_ours;
use std::collections::{BTreeMap, BTreeSet};

/// Name of the list.
pub(super) const NAME: &str = ".ome-manifest";

/// Its name in releases before 0.2.
pub(super) const OLD: &str = ".ome-manifest.json";

/// Version of its shape.
const SCHEMA_VERSION: &str = "ome/v1";

/// Files by path, each with the SHA-256 of its possible contents, in hexadecimal.
pub(super) type Files = BTreeMap<String, BTreeSet<String>>;

/// Adds the files of a list. A list that git merged has the files of both sides, whether it left the
/// marks of a conflict or put the lines one after another.
///
/// # Errors
/// The error: other text, or a path that leads out of the directory.
pub(super) fn parse(text: &str, found: &mut Files) -> Result<(), String> {
    // Conflict marks are no JSON, so that a merged list is looked for first.
    if let Some(files) = merged(text) {
        return files.into_iter().try_for_each(|(path, sum)| add(&path, &sum, found));
    }
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let files =
        value.get("files").and_then(|files| files.as_array()).ok_or("`files` is not a list")?;
    for file in files {
        let text = |key: &str| {
            let text = file.get(key).and_then(|value| value.as_str());
            text.ok_or_else(|| format!("a file has no `{key}`"))
        };
        add(text("path")?, text("sha256")?, found)?;
    }
    Ok(())
}

fn add(path: &str, sha256: &str, found: &mut Files) -> Result<(), String> {
    // A list may come from anyone, and files are removed by it.
    if !is_ours(path) {
        return Err(format!("`{path}` is not a path of the form NAMESPACE/SERVICE/KIND-NAME.yaml"));
    }
    found.entry(path.to_owned()).or_default().insert(sha256.to_owned());
    Ok(())
}

/// The files of a list that two branches wrote, line by line: conflict marks (gitattributes,
/// Defining a custom merge driver, `union` and `conflict-marker-size`) and what is twice are passed
/// over. None for a list as it was written, and for other text.
fn merged(text: &str) -> Option<Vec<(String, String)>> {
    const MARKS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];
    let quoted = |line: &str, key: &str| -> Option<String> {
        let value = line.strip_prefix(&format!("\"{key}\": "))?.trim_end_matches(',');
        serde_json::from_str(value).ok()
    };
    // By lines: what git put together has no structure beyond them.
    let (mut files, mut paths, mut path) = (Vec::new(), 0, None);
    let (mut is_marked, mut is_list) = (false, false);
    for line in text.lines() {
        let line = line.trim();
        if let Some(quoted) = quoted(line, "path") {
            paths += 1;
            path = Some(quoted);
        } else if let Some(sum) = quoted(line, "sha256") {
            files.push((path.clone()?, sum));
        } else if MARKS.iter().any(|mark| line.starts_with(mark)) {
            is_marked = true;
        } else if line.starts_with("\"files\":") {
            is_list = true;
        } else if !line.starts_with("\"schemaVersion\":")
            && !line.chars().all(|c| "{}[],".contains(c))
        {
            return None;
        }
    }
    // A union merge may leave valid JSON with a sum that belongs to no path.
    let is_whole = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    (is_list && (is_marked || paths != files.len() || !is_whole())).then_some(files)
}

/// Writes a list, sorted by path.
pub(super) fn write(files: &Files) -> String {
    let files: Vec<_> = files
        .iter()
        .flat_map(|(path, sums)| sums.iter().map(move |sum| (path, sum)))
        .map(|(path, sha256)| serde_json::json!({ "path": path, "sha256": sha256 }))
        .collect();
    let mut text = serde_json::to_string_pretty(
        &serde_json::json!({ "schemaVersion": SCHEMA_VERSION, "files": files }),
    )
    .expect("text and lists are JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_as_it_was_written() {
        let sums = |sums: &[&str]| sums.iter().map(ToString::to_string).collect();
        let files: Files = [
            ("b/c/d.yaml".to_owned(), sums(&["2", "3"])),
            ("a/b/c.yaml".to_owned(), sums(&["1"])),
            ("a/kustomization.yaml".to_owned(), sums(&["4"])),
        ]
        .into();
        let mut read = Files::new();
        assert_eq!(parse(&write(&files), &mut read), Ok(()));
        assert_eq!(read, files);
    }

    #[test]
    fn a_merged_manifest_has_the_files_of_both_sides() {
        let side = |sums: &[(&str, &str)]| -> Files {
            let one = |(path, sum): &(&str, &str)| ((*path).to_owned(), [(*sum).to_owned()].into());
            sums.iter().map(one).collect()
        };
        let (ours, theirs) = (
            side(&[("a/b/c.yaml", "1"), ("a/b/d.yaml", "2")]),
            side(&[("a/b/c.yaml", "3"), ("a/b/e.yaml", "4")]),
        );
        let mut both = ours.clone();
        for (path, sums) in &theirs {
            both.entry(path.clone()).or_default().extend(sums.iter().cloned());
        }
        let (one, other) = (write(&ours), write(&theirs));
        let marked = format!("<<<<<<< HEAD\n{one}=======\n{other}>>>>>>> theirs\n");
        let diff3 = format!("<<<<<<< HEAD\n{one}||||||| 1a\n=======\n{other}>>>>>>> theirs\n");
        // A union has the lines of both, without marks and without commas between them.
        let union = format!("{one}{other}");
        let within = one.replace("\"1\"", "\"1\"\n      \"sha256\": \"9\"");
        for text in [marked, diff3, union] {
            let mut read = Files::new();
            assert_eq!(parse(&text, &mut read), Ok(()), "{text}");
            assert_eq!(read, both, "{text}");
        }
        let mut read = Files::new();
        assert_eq!(parse(&within, &mut read), Ok(()));
        assert_eq!(read["a/b/c.yaml"], ["1".to_owned(), "9".to_owned()].into());
        assert!(parse("<<<<<<< HEAD\nmine\n>>>>>>> x\n", &mut Files::new()).is_err());
        let outside = union_of("../x.yaml");
        assert!(parse(&outside, &mut Files::new()).is_err());
    }

    fn union_of(path: &str) -> String {
        let text = write(&[(path.to_owned(), ["1".to_owned()].into())].into());
        format!("{text}{text}")
    }

    #[test]
    fn a_manifest_with_paths_outside_the_directory_is_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"files":[{}]}"#,
            r#"{"files":[{"path":"a/b/c.yaml"}]}"#,
            r#"{"files":[{"path":"../../etc/x.yaml","sha256":""}]}"#,
            r#"{"files":[{"path":"/etc/a/b.yaml","sha256":""}]}"#,
            r#"{"files":[{"path":"mine.yaml","sha256":""}]}"#,
        ] {
            assert!(parse(text, &mut Files::new()).is_err(), "{text}");
        }
    }
}
