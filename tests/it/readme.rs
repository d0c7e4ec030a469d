//! The README's sessions: every fenced block that begins with `$ ome …` or `$ cargo run --release
//! -- …` is run, and its output is compared byte for byte.
//!
//! `OME_BLESS=1 cargo test --test it readme` writes the present output. Commands run in the root
//! of the repository with both streams in one, as on a terminal.

use crate::process;
use similar::TextDiff;
use std::path::Path;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
/// How the README calls the tool; the second is what works in a fresh clone.
const CALLS: [&str; 2] = ["ome ", "cargo run --release -- "];

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
    let mut shell = process::in_directory("sh", Path::new(env!("CARGO_MANIFEST_DIR")));
    let done = shell
        .args(["-c", &format!("exec 2>&1; {command}")])
        .env("PATH", path)
        .output()
        .expect("there is a shell");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn readme_sessions_match_the_current_output() {
    let text = std::fs::read_to_string(README).expect("there is a README.md");
    let mut calls = 0;
    let current = rerun(&text, |command| {
        calls += 1;
        shell(command)
    });
    assert!(calls > 0, "the README shows no session");
    if text == current {
        return;
    }
    if std::env::var_os("OME_BLESS").is_some() {
        std::fs::write(README, current).expect("README.md can be written");
        return;
    }
    let diff = TextDiff::from_lines(&text, &current);
    panic!(
        "README.md is stale; OME_BLESS=1 cargo test --test it readme\n{}",
        diff.unified_diff().header("README.md", "printed now")
    );
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
