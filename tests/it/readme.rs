//! Sessions of the README and of pages: every fenced block that begins with `$ ome …` or `$ cargo run --release
//! -- …` is run, and its output is compared byte for byte.
//!
//! `OME_BLESS=1 cargo test --test it readme` writes the present output. Commands run in the root
//! of the repository with both streams in one, as on a terminal.

use crate::process;
use similar::TextDiff;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Pages whose sessions are run.
const PAGES: [&str; 4] =
    ["README.md", "docs/tour.md", "docs/first-hour.md", "docs/openshift-ai.md"];
/// How the README calls the tool; the second is what works in a fresh clone.
const CALLS: [&str; 3] = ["ome ", "cargo run --release -- ", "cargo run --profile quick -- "];

/// A text with the output of every session made new by `run`.
fn rerun(text: &str, mut run: impl FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        if !line.starts_with("```") {
            continue;
        }
        let session = lines
            .peek()
            .and_then(|next| next.strip_prefix("$ "))
            .is_some_and(|command| CALLS.iter().any(|call| command.starts_with(call)));
        for line in lines.by_ref() {
            if let (true, Some(command)) = (session, line.strip_prefix("$ ")) {
                out.push_str(line);
                let called = CALLS
                    .iter()
                    .find_map(|call| command.strip_prefix(call))
                    .map_or_else(|| command.to_owned(), |rest| format!("ome {rest}"));
                out.push_str(&run(called.trim_end()));
                if !out.ends_with('\n') {
                    out.push('\n');
                }
            } else if line.starts_with("```") {
                out.push_str(line);
                break;
            } else if !session {
                out.push_str(line);
            }
        }
    }
    out
}

/// The output of a command line in the root of the repository.
fn shell(command: &str) -> String {
    let binary = process::binary();
    let folder = Path::new(&binary).parent().expect("the binary is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path)),
    )
    .expect("a path that was split can be joined");
    let mut shell = process::in_directory("sh", Path::new(ROOT));
    let done = shell
        .args(["-c", &format!("exec 2>&1; {command}")])
        .env("PATH", path)
        .output()
        .expect("there is a shell");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn sessions_of_pages_match_the_current_output() {
    for page in PAGES {
        let file = Path::new(ROOT).join(page);
        let text = std::fs::read_to_string(&file).expect("there is a page");
        let mut calls = 0;
        let current = rerun(&text, |command| {
            calls += 1;
            shell(command)
        });
        assert!(calls > 0, "{page} shows no session");
        if text == current {
            continue;
        }
        if std::env::var_os("OME_BLESS").is_some() {
            std::fs::write(&file, current).expect("the page can be written");
            continue;
        }
        let diff = TextDiff::from_lines(&text, &current);
        panic!(
            "{page} is stale; OME_BLESS=1 cargo test --test it readme\n{}",
            diff.unified_diff().header(page, "printed now")
        );
    }
}

#[test]
fn the_readme_fits_its_reader() {
    let text = std::fs::read_to_string(Path::new(ROOT).join("README.md")).expect("a README.md");
    assert!(text.lines().count() <= 120, "{} lines", text.lines().count());
}

/// Every link from a page to a file leads to one.
#[test]
fn links_of_pages_lead_to_files() {
    let mut dead = Vec::new();
    let docs = std::fs::read_dir(Path::new(ROOT).join("docs")).expect("there are pages");
    let pages = docs.map(|entry| entry.expect("an entry").path());
    for page in pages.chain(["README.md", "ARCHITECTURE.md"].map(|name| Path::new(ROOT).join(name)))
    {
        let Ok(text) = std::fs::read_to_string(&page) else { continue };
        let folder = page.parent().expect("a page is in a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            let is_file = !file.is_empty() && !file.contains("://") && !file.contains(' ');
            if is_file
                && page.extension().is_some_and(|own| own == "md")
                && !folder.join(file).exists()
            {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

/// The first session of the page on validation is the program's output too.
#[test]
fn the_first_session_of_the_validation_page_matches_the_current_output() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/validate.md");
    let text = std::fs::read_to_string(page).expect("there is a page");
    let (before, _) = text.split_once("\n```\n").expect("the page has a session");
    let session = &text[..before.len() + "\n```\n".len()];
    assert!(session.contains("$ ome validate"), "{session}");
    assert_eq!(rerun(session, shell), session);
}

#[test]
fn sessions_are_found_and_their_output_replaced() {
    let text = "a\n```console\n$ ome plan -f x\nold\nolder\n$ cargo run --release -- code y | head -1\n```\n```sh\n$ cargo test\nkept\n```\n$ ome outside\n```yaml\nome: kept\n```\n";
    let mut seen = Vec::new();
    let current = rerun(text, |command| {
        seen.push(command.to_owned());
        format!("<{command}>")
    });
    assert_eq!(seen, ["ome plan -f x", "ome code y | head -1"]);
    let want = "a\n```console\n$ ome plan -f x\n<ome plan -f x>\n$ cargo run --release -- code y | head -1\n<ome code y | head -1>\n```\n```sh\n$ cargo test\nkept\n```\n$ ome outside\n```yaml\nome: kept\n```\n";
    assert_eq!(current, want);
    assert_eq!(rerun(want, |command| format!("<{command}>\n")), want);
}
