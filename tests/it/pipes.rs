//! Streams and terminals: a full disk, input through a pipe that has a name, a terminal that obeys
//! nothing or has no width.

#![cfg(unix)]

use super::process::{Folder, in_directory};
use std::process::{Command, Output, Stdio};

fn quickstart() -> Folder {
    let folder = Folder::new(&[]);
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/quickstart/");
    let files = ["models.yaml", "nodes.yaml", "runtimes.yaml", "services.yaml"];
    let texts = files.map(|file| std::fs::read_to_string(format!("{root}{file}")).expect(file));
    folder.write("all.yaml", texts.join("---\n"));
    folder
}

/// Runs a line of bash, in which `ome` is the tool.
fn bash(folder: &Folder, line: &str) -> Option<Output> {
    let there = Command::new("bash").arg("-c").arg(":").status();
    if !there.is_ok_and(|status| status.success()) {
        return None;
    }
    let tool = super::process::binary();
    let line = format!("ome() {{ '{}' \"$@\"; }}; {line}", tool.display());
    let done = in_directory("bash", folder.path())
        .args(["-c", &line])
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    Some(done)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_however_little_is_written() {
    let folder = quickstart();
    for call in ["version", "--help", "plan -f all.yaml", "render -f all.yaml", "completions bash"]
    {
        let done = bash(&folder, &format!("ome {call} >/dev/full"));
        let Some(done) = done else { return };
        assert_eq!(done.status.code(), Some(1), "{call}");
        let said = text(&done.stderr);
        assert_eq!(said.matches("error: cannot write: No space left").count(), 1, "{call}: {said}");
    }
}

#[test]
fn what_comes_through_a_pipe_is_read() {
    let folder = quickstart();
    let plain = folder.ome("plan -f all.yaml").stdout;
    for call in [
        "ome plan -f <(cat all.yaml)",
        "cat all.yaml | ome plan -f /dev/stdin",
        "cat all.yaml | ome plan -f - -f /dev/stdin",
        "ome plan -f /dev/stdin < all.yaml",
        "mkfifo pipe; cat all.yaml >pipe & while ! test -p pipe; do :; done; ome plan -f pipe",
    ] {
        let Some(done) = bash(&folder, call) else { return };
        assert_eq!(text(&done.stdout), plain, "{call}: {}", text(&done.stderr));
    }
    // Of a directory a FIFO is no part.
    let done = folder.ome("plan -f . --no-builtin");
    assert!(done.stdout.contains("quickstart"), "{done:?}");
}

/// What the tool writes to a terminal.
fn on_a_terminal(folder: &Folder, environment: &str, call: &str) -> Option<String> {
    let script = Command::new("script").arg("--version").output();
    if !script.is_ok_and(|done| text(&done.stdout).contains("util-linux")) {
        return None;
    }
    let tool = super::process::binary();
    let line = format!("env -u NO_COLOR {environment} '{}' {call}", tool.display());
    let done = bash(folder, &format!("script -qec \"{line}\" /dev/null"))?;
    Some(text(&done.stdout).replace("\r\n", "\n"))
}

#[test]
fn a_dumb_terminal_gets_no_control_characters() {
    let folder = quickstart();
    let Some(shown) = on_a_terminal(&folder, "TERM=xterm", "plan -f all.yaml") else { return };
    assert!(shown.contains('\u{1b}'), "{shown}");
    for call in ["plan -f all.yaml", "plan -f nowhere", "--help", "explain chat -f all.yaml"] {
        let shown = on_a_terminal(&folder, "TERM=dumb", call).expect("as before");
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{call}: {shown:?}");
    }
}

#[test]
fn a_terminal_without_width_is_as_wide_as_need_be() {
    let folder = quickstart();
    let plain = folder.ome("plan -f all.yaml").stdout;
    let environment = "TERM=dumb COLUMNS=0";
    let Some(shown) = on_a_terminal(&folder, environment, "plan -f all.yaml") else { return };
    assert_eq!(shown, plain);
    let environment = "TERM=dumb COLUMNS=60";
    let shown = on_a_terminal(&folder, environment, "plan -f all.yaml").expect("as before");
    assert_ne!(shown, plain);
}
