//! What is built, and what others run of it.

use crate::process::Folder;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A tag can be moved to another commit, a commit cannot.
#[test]
fn actions_are_pinned_by_commit() {
    for file in ["action.yml", ".github/workflows/ci.yml", ".github/workflows/release.yml"] {
        let text = read(file);
        let uses = text
            .lines()
            .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "));
        for action in uses {
            let (_, pin) = action.split_once('@').unwrap_or_else(|| panic!("{file}: {action}"));
            let (commit, tag) = pin.split_once(" # ").unwrap_or_else(|| panic!("{file}: {action}"));
            assert!(
                commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()),
                "{file}: {action}"
            );
            assert!(tag.starts_with('v'), "{file}: {action}");
        }
    }
}

#[test]
fn releases_are_reproducible_and_have_provenance() {
    let text = read(".github/workflows/release.yml");
    for part in [
        ".ci/release --target",
        "attest-build-provenance@",
        "subject-path: dist/*",
        "provenance: mode=max",
        "${GITHUB_REPOSITORY,,}",
        "target: released",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("run: cargo build"), "{text}");
    let image = read("Dockerfile");
    let released = image.split("AS released").nth(1).expect("a stage for releases");
    assert!(!released.split("\nFROM").next().unwrap_or_default().contains("--from="), "{image}");
}

/// A file whose name looks like a flag does not weaken the hook.
#[test]
fn the_name_of_a_file_is_no_flag_of_a_hook() {
    let hooks = read(".pre-commit-hooks.yaml");
    let folder = Folder::new(&[
        ("--config=evil.yaml", "a: b: c\n"),
        ("evil.yaml", "[severity]\nunknown-field = \"off\"\n"),
        (
            "bad.yaml",
            "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec: {sppec: 1}\n",
        ),
    ]);
    let entries: Vec<&str> =
        hooks.lines().filter_map(|line| line.trim().strip_prefix("entry: ome ")).collect();
    for entry in entries.iter().filter(|entry| entry.starts_with("validate")) {
        let done = folder.ome(&format!("{entry} -- bad.yaml --config=evil.yaml"));
        assert_eq!(done.exit, Some(2), "{entry}: {done:?}");
    }
    assert_eq!(hooks.matches("args: [--]").count(), 2, "{hooks}");
}

/// The words of every line reach the program, and nothing of them is run by the shell.
#[cfg(unix)]
#[test]
fn the_action_passes_every_line_of_its_arguments() {
    let action = read("action.yml");
    let line =
        action.lines().find(|line| line.contains("read -r -d")).expect("it reads words").trim();
    let script = format!("{line}\nprintf '%s\\n' \"${{words[@]}}\"");
    let done = std::process::Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .env("ARGS", "validate -o github\n--strict\n  $(echo no) .\n")
        .output();
    let Ok(done) = done else { return };
    let words = String::from_utf8_lossy(&done.stdout);
    let expected = ["validate", "-o", "github", "--strict", "$(echo", "no)", "."];
    assert_eq!(words.lines().collect::<Vec<_>>(), expected, "{done:?}");
}
