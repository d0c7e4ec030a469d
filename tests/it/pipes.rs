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
fn a_full_disk_is_reported_once() {
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
fn input_from_pipes_is_read() {
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

/// The output on a terminal.
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
fn output_longer_than_the_terminal_goes_to_the_pager() {
    let folder = quickstart();
    let tool = super::process::binary();
    folder.write("call.sh", format!("stty rows 10 cols 80; exec '{}' \"$@\"", tool.display()));
    let shown = |environment: &str, call: &str| {
        let line = format!("env TERM=xterm {environment} sh call.sh {call}");
        bash(&folder, &format!("script -qec \"{line}\" /dev/null")).map(|done| text(&done.stdout))
    };
    // Where there is no `script`, there is no terminal.
    if on_a_terminal(&folder, "TERM=dumb", "version").is_none() {
        return;
    }
    let is_paged = |shown: Option<String>| shown.is_some_and(|shown| shown.contains("PAGED"));
    assert!(is_paged(shown("PAGER='sed s/^/PAGED/'", "code")));
    assert!(!is_paged(shown("PAGER='sed s/^/PAGED/'", "version")));
    assert!(!is_paged(shown("PAGER='sed s/^/PAGED/'", "code --no-pager")));
    // Without a pager, the output is there all the same.
    let plain = shown("PAGER=no-such-pager", "code").expect("as before");
    assert!(plain.contains("size-range"), "{plain}");
}

#[test]
fn a_terminal_without_a_width_does_not_wrap_output() {
    let folder = quickstart();
    // Findings go to the same terminal.
    let call = "plan -q -f all.yaml";
    let plain = folder.ome(call).stdout;
    let environment = "TERM=dumb COLUMNS=0";
    let Some(shown) = on_a_terminal(&folder, environment, call) else { return };
    assert_eq!(shown, plain);
    let environment = "TERM=dumb COLUMNS=60";
    let shown = on_a_terminal(&folder, environment, call).expect("as before");
    assert_ne!(shown, plain);
}

#[test]
fn verbose_reports_files_read_and_timings() {
    let folder = quickstart();
    let done = folder.ome("plan -v -f all.yaml --no-config");
    for said in ["settings: none", "read all.yaml (", "input read in ", "done in "] {
        assert!(done.stderr.contains(said), "{said}: {}", done.stderr);
    }
    assert_eq!(done.stdout, folder.ome("plan -f all.yaml --no-config").stdout);
}

#[test]
fn an_incomplete_call_uses_a_default_or_prints_the_next_step() {
    let folder = quickstart();
    let all = folder.ome("why deploy/chat-engine * --no-config");
    assert_eq!(all.exit, Some(0), "{all:?}");
    for shorter in ["why deploy/chat-engine --no-config", "why deploy chat-engine --no-config"] {
        assert_eq!(folder.ome(shorter).stdout, all.stdout, "{shorter}");
    }
    for (call, told) in [
        ("plan -f https://example.com/all.yaml", "curl -fsSL https://example.com/all.yaml | ome"),
        ("drift --no-config", "then `--live live.yaml`"),
        ("test", "`ome test --record NEW.ome-test.yaml -f DIR` writes one"),
    ] {
        let done = folder.ome(call);
        assert!(done.stderr.contains(told), "{call}: {done:?}");
    }
}

#[test]
fn quiet_hides_warnings_and_keeps_the_exit_code() {
    let folder = quickstart();
    let warned = "kind: ClusterBaseModel\napiVersion: ome.io/v1beta1\nmetadata: {name: m, namespace: a}\nspec:\n  modelFormat: {name: safetensors}\n";
    folder.write("in/m.yaml", warned);
    let [loud, quiet] = ["validate in", "validate in -q"].map(|call| folder.ome(call));
    assert!(loud.stdout.contains("namespace-on-cluster-object"), "{loud:?}");
    assert!(!quiet.stdout.contains("namespace-on-cluster-object\n"), "{quiet:?}");
    assert_eq!(loud.exit, quiet.exit);
}

#[test]
fn shell_completion_offers_names_from_the_input() {
    let folder = quickstart();
    let complete = |words: &[&str]| {
        let mut call = folder.command("--");
        call.args(["ome"]).args(words).env("COMPLETE", "bash");
        call.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).env("_CLAP_IFS", "\n");
        text(&call.output().expect("it runs").stdout)
    };
    let input = ["-f", "all.yaml"];
    for (words, expected) in [
        ([&["plan"], &input[..], &["ch"]].concat(), "chat"),
        ([&["plan"], &input[..], &["quickstart/ch"]].concat(), "quickstart/chat"),
        ([&["explain"], &input[..], &["--runtime", "vllm"]].concat(), "vllm-qwen2-5"),
        ([&["rollout", "--all"], &input[..], &["--slow", "chat/"]].concat(), "chat/engine"),
        (vec!["code", "same-pri"], "same-priority"),
        (vec!["validate", "--rule", "same-pri"], "same-priority"),
        (vec!["schema", "clusterserv"], "clusterservingruntime"),
        (vec!["schema", "inferenceservice", "spec.eng"], "spec.engine"),
        (vec!["schema", "isvc.spec.eng"], "isvc.spec.engine"),
        ([&["why"], &input[..], &["Deployment/ch"]].concat(), "Deployment/chat-engine"),
        ([&["why"], &input[..], &["Deployment/chat-engine", "spec.rep"]].concat(), "spec.replicas"),
        ([&["why"], &input[..], &["deploy/ch"]].concat(), "deploy/chat-engine"),
        ([&["why"], &input[..], &["Deployment", "ch"]].concat(), "chat-engine"),
        ([&["why"], &input[..], &["deploy", "chat-engine", "spec.rep"]].concat(), "spec.replicas"),
        ([&["explain"], &input[..], &["isvc/ch"]].concat(), "isvc/chat"),
        ([&["plan"], &input[..], &["-n", "quick"]].concat(), "quickstart"),
        (vec!["schema", "ClusterServ"], "ClusterServingRuntime"),
        (vec!["catalog", "show", "AcceleratorClass", "nvidia-l40s"], "nvidia-l40s"),
        (vec!["catalog", "show", "ClusterServingRuntime", "nvidia-l40s"], ""),
        ([&["drain"], &input[..], &["gpu-h"]].concat(), "gpu-h100-0"),
        ([&["plan"], &input[..], &["--without", "node=gpu-h"]].concat(), "node=gpu-h100-0"),
    ] {
        assert_eq!(complete(&words), expected, "{words:?}");
    }
    // Flags are offered to a word that begins as one, or where nothing else follows.
    assert_eq!(complete(&["explain", ""]), "assistant\nchat\nnightly-summary");
    assert!(complete(&["explain", "--"]).starts_with("--runtime\n--all\n"));
    assert!(complete(&["matrix", ""]).contains("--filename"));
    assert_eq!(complete(&["plan", "-o", "j"]), "json");
}

#[test]
fn a_watched_input_is_planned_again() {
    let folder = quickstart();
    let mut call = folder.command("plan --watch -f . --no-config");
    let out = std::fs::File::create(folder.at("out.txt")).expect("a file can be written");
    let mut child = call.stdout(out).stderr(Stdio::null()).spawn().expect("it starts");
    let shows = |what: &str| {
        let begun = std::time::Instant::now();
        while !folder.read("out.txt").contains(what) && begun.elapsed().as_secs() < 30 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        folder.read("out.txt").contains(what)
    };
    let first = shows("nightly-summary");
    folder.write("all.yaml", folder.read("all.yaml").replace("name: chat", "name: talk"));
    let second = shows("talk");
    // In a directory that comes later, too.
    folder
        .write("new/below/more.yaml", folder.read("all.yaml").replace("name: talk", "name: more"));
    let third = shows("more");
    child.kill().expect("it runs until it is stopped");
    child.wait().expect("it has ended");
    assert_eq!((first, second, third), (true, true, true), "{}", folder.read("out.txt"));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = quickstart();
    assert_eq!(folder.ome("man pages").exit, Some(0));
    let names = folder.names("pages");
    for name in ["ome.1", "ome-plan.1", "ome-kueue-import.1"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    assert_eq!(folder.ome("man pages").exit, Some(0), "what it wrote, it writes again");
    folder.write("pages/ome-plan.1", "mine");
    let done = folder.ome("man pages");
    assert_eq!((done.exit, folder.read("pages/ome-plan.1").as_str()), (Some(1), "mine"));
}
