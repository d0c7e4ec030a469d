//! What the project says can be followed by a reader: sources are public, spelling is American, and
//! phrases that the glossary replaces do not come back.

use std::path::{Path, PathBuf};

/// Working papers and their item numbers, which no reader has.
const PRIVATE: [&str; 5] =
    ["ome-selection", "ome-components", "ome-objects.md", "seed-ledger", "CONTRACT-s"];

/// Phrases of tables, findings and helps that were replaced.
const REPLACED: [&str; 23] = [
    "at the fewest replicas",
    "Shape of the output",
    "shape of the output",
    "Whose word counts",
    "whose word counts",
    "nine tenths",
    "no way in",
    "it wins as it is",
    "stands twice",
    "as wanted;",
    "nobody here reads",
    "nobody says",
    "nobody reads",
    "nobody serves",
    "nobody knows",
    "are no errors",
    "yes (room for",
    "is no candidate",
    "the map of the house",
    "a page per wing",
    "between two words on",
    "what runs is left alone",
    "made anew",
];

/// British spellings; codes keep the spelling that they were published with.
const BRITISH: [&str; 19] = [
    "colour",
    "behaviour",
    "neighbour",
    "labelled",
    "modelled",
    "recognise",
    "emphasise",
    "serialise",
    "normalise",
    "summarise",
    "organise",
    "initialise",
    "optimise",
    "analyse",
    "capitalise",
    "honour",
    "favour",
    "artefact",
    "licence",
];

fn texts() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("src"), PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder))
            .expect("the folder is there")
        {
            let path = folder.join(entry.expect("an entry").file_name());
            if Path::new(env!("CARGO_MANIFEST_DIR")).join(&path).is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|kind| ["rs", "md", "txt"].iter().any(|known| kind == *known))
            {
                found.push(path);
            }
        }
    }
    found.extend(["README.md", "CHANGELOG.md"].map(PathBuf::from));
    found.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path));
        (path, text.expect("a text"))
    };
    found.into_iter().map(read).collect()
}

/// Whether a line holds an item number such as `S`, a digit, a dash and three digits.
fn has_item(line: &str) -> bool {
    line.as_bytes().windows(6).enumerate().any(|(at, word)| {
        word[0] == b'S'
            && (b'0'..=b'4').contains(&word[1])
            && word[2] == b'-'
            && word[3..].iter().all(u8::is_ascii_digit)
            && (at == 0 || !line.as_bytes()[at - 1].is_ascii_alphanumeric())
    })
}

#[test]
fn no_source_is_private() {
    let mut problems = Vec::new();
    for (path, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            if has_item(line) || PRIVATE.iter().any(|name| line.contains(name)) {
                problems.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn replaced_phrases_do_not_come_back() {
    let mut problems = Vec::new();
    for (path, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let replaced = REPLACED.iter().filter(|phrase| line.contains(**phrase));
            let british = BRITISH.iter().filter(|word| lower.contains(**word));
            for phrase in replaced.chain(british) {
                problems.push(format!("{}:{}: {phrase}", path.display(), number + 1));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The glossary is sorted, and its terms are the ones that help and documents use.
#[test]
fn terms_of_the_glossary_are_used() {
    let all = texts();
    let of = |name: &str| {
        let found = all.iter().find(|(path, _)| path.ends_with(name));
        found.map(|(_, text)| text.as_str()).expect("it is there")
    };
    let terms: Vec<&str> = of("docs/glossary.md")
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| Some(line.strip_prefix("| ")?.split_once(" | ")?.0))
        .filter(|term| *term != "term")
        .collect();
    assert!(terms.len() > 40, "{terms:?}");
    assert!(terms.is_sorted_by_key(|term| term.to_lowercase()), "{terms:?}");
    let documents: String = all
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|kind| kind == "md"))
        .filter(|(path, _)| !path.ends_with("docs/glossary.md"))
        .map(|(_, text)| text.to_lowercase())
        .collect();
    let unused: Vec<&&str> =
        terms.iter().filter(|term| !documents.contains(&term.to_lowercase())).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// Every anchor of the decisions that is cited exists.
#[test]
fn cited_decisions_exist() {
    let all = texts();
    let decisions = &all.iter().find(|(path, _)| path.ends_with("decisions.md")).expect("it").1;
    let mut problems = Vec::new();
    for (path, text) in &all {
        for cited in text.split("docs/decisions.md#").skip(1) {
            let anchor: String =
                cited.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            if !decisions.contains(&format!("<a id=\"{anchor}\">")) {
                problems.push(format!("{}: {anchor}", path.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Every example of a help works as it is typed.
#[test]
fn examples_of_helps_run() {
    let quickstart = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/quickstart");
    let scratch = std::env::temp_dir().join(format!("ome-examples-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a directory for temporary files");
    for entry in std::fs::read_dir(quickstart).expect("it is there") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), scratch.join(entry.file_name())).expect("a copy");
    }
    let mut problems = Vec::new();
    for (verb, examples) in ome::cli::examples::EXAMPLES {
        assert!((2..=4).contains(&examples.len()), "{verb} has 2 to 4 examples");
        for (typed, _) in *examples {
            let done = crate::process::in_directory(env!("CARGO_BIN_EXE_ome"), &scratch)
                .args(typed.split(' '))
                .output()
                .expect("it runs");
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            if !matches!(done.status.code(), Some(0 | 2)) || said.contains("Usage:") {
                problems.push(format!("ome {typed}: {:?} {said}", done.status.code()));
            }
        }
    }
    drop(std::fs::remove_dir_all(&scratch));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
