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

/// Adds the files of a list.
///
/// # Errors
/// The error: other text, or a path that leads out of the directory.
pub(super) fn parse(text: &str, found: &mut Files) -> Result<(), String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let files =
        value.get("files").and_then(|files| files.as_array()).ok_or("`files` is not a list")?;
    for file in files {
        let text = |key: &str| {
            let text = file.get(key).and_then(|value| value.as_str());
            text.ok_or_else(|| format!("a file has no `{key}`"))
        };
        let (path, sha256) = (text("path")?, text("sha256")?);
        if !is_ours(path) {
            return Err(format!(
                "`{path}` is not a path of the form NAMESPACE/SERVICE/KIND-NAME.yaml"
            ));
        }
        found.entry(path.to_owned()).or_default().insert(sha256.to_owned());
    }
    Ok(())
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
