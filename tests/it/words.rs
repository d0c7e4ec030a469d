//! Sources are public, spelling is American, and phrases that the glossary replaces do not come
//! back: in the repository, in every help and in the manual.

use crate::process::Folder;
use std::path::{Path, PathBuf};

/// Working papers and their item numbers, which no reader has.
const PRIVATE: [&str; 10] = [
    "ome-selection",
    "ome-components",
    "ome-objects.md",
    "seed-ledger",
    "seed ledger",
    "seeds 0",
    "of the seed",
    "CONTRACT-s",
    "against the head",
    ", corrections)",
];

/// Phrases of tables, findings and helps that were replaced.
const REPLACED: [&str; 41] = [
    "at the fewest replicas",
    "shape of the output",
    "whose word counts",
    "nine tenths",
    "no way in",
    "the way in\"",
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
    "goes no further",
    "get through",
    "gets through",
    "got through",
    "held on the way",
    "beyond both ends",
    "lowest ordinal left",
    "wait for a node,",
    "left as they are",
    "would take one more",
    "none was read",
    "no other is asked",
    "is no path",
    "is spelt",
    "is played",
    "are played",
    "fewest replicas",
    "what they are judged by",
    "says otherwise",
];

/// British spellings; codes keep the spelling that they were published with.
const BRITISH: [&str; 34] = [
    "colour",
    "behaviour",
    "neighbour",
    "labelled",
    "labelling",
    "modelled",
    "cancelled",
    "travelled",
    "recognise",
    "emphasise",
    "serialise",
    "normalise",
    "summarise",
    "organise",
    "initialise",
    "optimise",
    "minimise",
    "maximise",
    "prioritise",
    "customise",
    "utilise",
    "realise",
    "analyse",
    "capitalise",
    "honour",
    "favour",
    "artefact",
    "licence",
    "defence",
    "centre",
    "whilst",
    "spelt",
    "fulfil ",
    "judgement",
];

/// Folders and files with our own text, except this file, which contains the forbidden words.
const OURS: [&str; 13] = [
    "src",
    "docs",
    "tests",
    "examples",
    "completions",
    ".github",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "action.yml",
    "testdata/README.md",
];

/// Every text of the repository.
fn texts() -> Vec<(PathBuf, String)> {
    const KINDS: [&str; 9] = ["rs", "md", "txt", "html", "css", "js", "yml", "bash", "fish"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = OURS.iter().map(PathBuf::from).collect();
    while let Some(path) = left.pop() {
        if root.join(&path).is_dir() {
            let entries = std::fs::read_dir(root.join(&path)).expect("the folder is there");
            left.extend(entries.map(|entry| path.join(entry.expect("an entry").file_name())));
        } else if path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known))
            && !path.ends_with("tests/it/words.rs")
        {
            found.push(path);
        }
    }
    found.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(root.join(&path)).expect("a text");
        (path, text)
    };
    found.into_iter().map(read).collect()
}

/// The output of `--help` of every command, and the manual.
fn printed() -> Vec<(PathBuf, String)> {
    let folder = Folder::new(&[]);
    let mut found = Vec::new();
    let mut left = vec![String::new()];
    while let Some(verb) = left.pop() {
        let call = format!("{verb} --help");
        let text = folder.ome(call.trim()).stdout;
        let commands = text
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help");
        left.extend(commands.map(|name| format!("{verb} {name}").trim().to_owned()));
        found.push((PathBuf::from(format!("ome {}", call.trim())), text));
    }
    assert!(folder.ome("man pages").exit == Some(0), "the manual is written");
    for page in std::fs::read_dir(folder.path().join("pages")).expect("the manual is there") {
        let path = page.expect("a page").path();
        let text = std::fs::read_to_string(&path).expect("a page is text");
        found.push((PathBuf::from(path.file_name().expect("a name")), text));
    }
    found
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

/// Lines with citations that readers cannot follow.
fn private(texts: &[(PathBuf, String)]) -> Vec<String> {
    let is_private = |line: &str| {
        has_item(line)
            || has_chapter(line)
            || has_section(line)
            || PRIVATE.iter().any(|name| line.contains(name))
    };
    let lines = texts.iter().flat_map(|(path, text)| {
        text.lines().enumerate().map(move |(number, line)| (path, number, line))
    });
    lines
        .filter(|(_, _, line)| is_private(line))
        .map(|(path, number, line)| format!("{}:{}: {line}", path.display(), number + 1))
        .collect()
}

/// Phrases that were replaced, and British spellings. A sentence that is broken over two lines of
/// prose or of a comment is one.
fn replaced(texts: &[(PathBuf, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in texts {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let next = lines.get(number + 1).map_or("", |next| {
                next.trim_start().trim_start_matches(['/', '!', '#', '>']).trim_start()
            });
            let own = line.to_lowercase();
            let both = format!("{own} {}", next.to_lowercase());
            let phrases = REPLACED.iter().filter(|phrase| {
                own.contains(**phrase) || (both.contains(**phrase) && !next.contains(**phrase))
            });
            let british = BRITISH.iter().filter(|word| own.contains(**word));
            for phrase in phrases.chain(british) {
                problems.push(format!("{}:{}: {phrase}", path.display(), number + 1));
            }
        }
    }
    problems
}

/// Whether a comment cites a chapter by number alone, such as `(2.12)`, of a paper it does not
/// name.
fn has_chapter(line: &str) -> bool {
    let Some((_, comment)) = line.split_once("//") else { return false };
    comment.split('(').skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).any(|inside| {
        let number = inside.rsplit(", ").next().unwrap_or_default();
        number.split_once('.').is_some_and(|(chapter, item)| {
            let digits = |text: &str, most: usize| {
                (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
            };
            digits(chapter, 1) && chapter != "0" && digits(item, 2)
        })
    })
}

/// Whether the last cell of a table in a comment cites sections by number alone, such as `2.4, 6`,
/// or a comment cites a numbered test of an upstream file.
fn has_section(line: &str) -> bool {
    let Some((_, comment)) = line.split_once("//") else { return false };
    let is_number = |word: &str| {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        !word.is_empty() && word.split('.').all(digits)
    };
    let row = comment.trim_start_matches(['/', '!']).trim();
    let cell = row.strip_prefix('|').and_then(|row| row.strip_suffix('|')).map(|row| {
        let cell = row.rsplit('|').next().unwrap_or_default();
        cell.rsplit(": ").next().unwrap_or_default().trim()
    });
    let cited = cell.is_some_and(|cell| {
        cell.split(", ").any(|item| item.split(' ').next().is_some_and(is_number))
    });
    let numbered = comment.split_once(".go, ").is_some_and(|(_, cited)| {
        let words = cited.split([',', ' ', '.', ')']);
        words.into_iter().any(|word| word.strip_prefix('T').is_some_and(is_number))
    });
    cited || numbered
}

/// A table of files in a module's documentation names files that are beside it.
#[test]
fn tables_of_files_name_files() {
    let mut rows = 0;
    for (path, text) in texts() {
        let mut lines = text.lines().skip_while(|line| !line.starts_with("//! | file |")).skip(2);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(path.parent().expect("a folder"));
        while let Some(row) = lines.next().and_then(|line| line.strip_prefix("//! | ")) {
            let names = row.split('|').next().unwrap_or_default().split('`').skip(1).step_by(2);
            for name in names {
                let is_file = folder.join(name).with_extension("rs").is_file();
                let is_there = is_file || folder.join(name).join("mod.rs").is_file();
                assert!(is_there, "{}: there is no {name}", path.display());
                rows += 1;
            }
        }
    }
    assert!(rows > 5, "the tables are found");
}

/// Paths of files in the documents about the code lead somewhere.
#[test]
fn documents_about_the_code_name_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = 0;
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root.join(page)).expect("a page");
        for name in text.split('`').skip(1).step_by(2) {
            let is_path = Path::new(name).extension().is_some_and(|own| own == "rs")
                && !name.contains(['*', '{', '<', ' ']);
            if is_path {
                let is_there = root.join(name).is_file() || root.join("src").join(name).is_file();
                let is_beside = !name.contains('/');
                assert!(is_there || is_beside, "{page}: there is no {name}");
                paths += 1;
            }
        }
    }
    assert!(paths > 8, "the paths are found");
}

#[test]
fn code_sources_cite_no_private_documents() {
    let mut all = texts();
    all.extend(printed());
    let problems = private(&all);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn replaced_phrases_do_not_come_back() {
    let mut all = texts();
    all.extend(printed());
    let problems = replaced(&all);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Every command has examples in its help, a group of commands too.
#[test]
fn every_help_has_examples() {
    let missing: Vec<String> = printed()
        .into_iter()
        .filter(|(name, _)| name.to_string_lossy().ends_with(" --help"))
        .filter(|(_, text)| !text.contains("Examples:"))
        .map(|(name, _)| name.display().to_string())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The tests above find planted errors.
#[test]
fn planted_violations_are_found() {
    let planted = |text: &str| vec![(PathBuf::from("a.rs"), text.to_owned())];
    for text in [
        "see S2-094",
        "// (S0-001)",
        "seed-ledger 4",
        "seeds 001 and 003",
        "ome-selection 4.2",
        "/// As is (a.go, 2.12).",
        "//! | `scale` | more and fewer: 5 |",
        "//! | gone | 4.2 \"gone\", 6 |",
        "// pkg/a.go, manage, T7 and",
    ] {
        assert_eq!(private(&planted(text)).len(), 1, "{text}");
    }
    for text in [
        "\"the update gets through\"",
        "/// The update gets\n/// through.",
        "Nobody knows",
        "a colour",
        "how it is spelt",
        "<p>the behaviour</p>",
    ] {
        assert!(!replaced(&planted(text)).is_empty(), "{text}");
    }
    assert_eq!(replaced(&planted("The color of a pod\nthat is pending")), [""; 0]);
    assert_eq!(
        private(&planted(
            "GPUS2-0945, S9-000, XS2-094 // 1.5 (v1.2)\n// | a | b: c, d 1.3 |\n// a.go, Tick"
        )),
        [""; 0]
    );
    for suffix in ["rollout.html", "docs/glossary.md", "CONTRIBUTING.md", "ome.bash"] {
        assert!(texts().iter().any(|(path, _)| path.ends_with(suffix)), "{suffix} is read");
    }
    for name in ["ome rollout --help", "ome kueue import --help", "ome-plan.1"] {
        assert!(printed().iter().any(|(path, _)| path.as_path() == Path::new(name)), "{name}");
    }
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

/// Every page is in the index of the pages.
#[test]
fn every_page_is_in_the_index() {
    let all = texts();
    let index = all.iter().find(|(path, _)| path.ends_with("docs/README.md")).expect("the index");
    for (path, _) in &all {
        let name = path.file_name().expect("a name").to_string_lossy();
        let is_page = path.starts_with("docs") && name != "README.md" && name.ends_with(".md");
        assert!(!is_page || index.1.contains(&format!("]({name})")), "{name} is not in the index");
    }
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
    // Payloads are no manifests, so the quick start has none.
    let tensor = "[{\"name\": \"x\", \"shape\": [1], \"datatype\": \"FP32\", \"data\": [1.0]}]";
    let request = format!("{{\"id\": \"1\", \"inputs\": {tensor}}}");
    let response = format!("{{\"id\": \"1\", \"model_name\": \"m\", \"outputs\": {tensor}}}");
    for (name, text) in [("request.json", request), ("response.json", response)] {
        std::fs::write(scratch.join(name), text).expect("a file");
    }
    let mut problems = Vec::new();
    for (verb, examples) in ome::cli::examples::EXAMPLES {
        assert!((2..=4).contains(&examples.len()), "{verb} has 2 to 4 examples");
        for (typed, _) in *examples {
            let done = crate::process::in_directory(crate::process::binary(), &scratch)
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
