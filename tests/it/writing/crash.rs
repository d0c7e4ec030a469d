//! Runs that are killed, stopped by a signal, or write one directory at the same time.

use super::{CATALOG, RENDER, agrees, deployment, ends, is_left, service, state};
use crate::process::Folder;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The same numbers in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u128) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u64::try_from(u128::from(self.0 >> 33) % end.max(1)).unwrap_or(0)
    }
}

/// Two inputs in one folder: `b` is gone from the second, `c` is new, `a` changes.
fn inputs() -> Folder {
    let folder = Folder::new(&[("one/catalog.yaml", CATALOG), ("two/catalog.yaml", CATALOG)]);
    for (input, services) in
        [("one", [("a", 1), ("b", 1), ("d", 1)]), ("two", [("a", 2), ("c", 1), ("d", 1)])]
    {
        for (name, round) in services {
            folder.write(&format!("{input}/{name}.yaml"), service(name, round));
        }
    }
    folder
}

fn render(folder: &Folder, input: &str) -> String {
    assert!(folder.at(input).exists());
    RENDER.replace("-f in", &format!("-f {input}"))
}

fn start(folder: &Folder, input: &str) -> Child {
    let mut command = folder.command(&render(folder, input));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

const MINE: [&str; 2] = [".ome-backup.tmp", "ns/a/mine.yaml"];

#[test]
fn a_run_that_is_killed_at_any_moment_loses_nothing() {
    let folder = inputs();
    for mine in MINE {
        folder.write(&format!("out/{mine}"), "mine");
    }
    let whole = ["one", "two"].map(|input| {
        ends(&folder.ome(&render(&folder, input)), 0, &[]);
        state(&folder)
    });
    let begun = Instant::now();
    ends(&folder.ome(&render(&folder, "one")), 0, &[]);
    let time = begun.elapsed().as_micros();
    let mut draw = Draw(7);
    let mut stopped = 0;
    for round in 0..200 {
        let input = ["two", "one"][round % 2];
        let mut child = start(&folder, input);
        std::thread::sleep(Duration::from_micros(draw.below(time)));
        child.kill().expect("it can be killed");
        stopped += usize::from(child.wait().expect("it ends").code().is_none());
        let now = state(&folder);
        for (name, content) in &now {
            let known = name.starts_with(".ome-")
                || whole.iter().any(|whole| whole.get(name) == Some(content));
            assert!(known, "round {round}: {name} holds neither content");
        }
        for name in whole[0].keys().filter(|name| whole[1].contains_key(*name)) {
            assert!(now.contains_key(name), "round {round}: {name} is gone");
        }
        if round % 20 == 19 {
            ends(&folder.ome(&render(&folder, input)), 0, &[]);
            assert_eq!(state(&folder), whole[usize::from(input == "two")]);
            agrees(&folder, &MINE);
        }
    }
    assert!(stopped > 50, "only {stopped} of 200 runs were killed before their end");
}

#[test]
fn eighty_runs_at_once_leave_one_state() {
    let folder = inputs();
    let children: Vec<Child> =
        (0..80).map(|number| start(&folder, ["one", "two"][number % 2])).collect();
    for child in children {
        let done = child.wait_with_output().expect("it ends");
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    }
    agrees(&folder, &[]);
    let ends_as = ["one", "two"].map(|input| {
        let check = format!("render -f {input} --check out --no-builtin --no-config");
        folder.ome(&check).exit
    });
    assert!(ends_as.contains(&Some(0)) && ends_as.contains(&Some(2)), "{ends_as:?}");
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_temporary_file() {
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new(&[("one/catalog.yaml", CATALOG)]);
    let services: Vec<String> = (0..150).map(|number| service(&format!("s{number}"), 1)).collect();
    folder.write("one/services.yaml", services.join("---\n"));
    let mut stopped = 0;
    for (signal, number) in [("-TERM", 15), ("-INT", 2)] {
        for _ in 0..3 {
            let mut child = start(&folder, "one");
            // It is on its way when it has written something that has no name yet.
            let begun = Instant::now();
            let temporary = |name: &String| is_left(name) && name.len() == ".ome-XXXXXX.tmp".len();
            while !folder.names("out").iter().any(temporary) && begun.elapsed().as_secs() < 20 {
                std::thread::sleep(Duration::from_millis(1));
            }
            let sent =
                std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
            assert!(sent.expect("kill").success());
            let status = child.wait().expect("it ends");
            stopped += usize::from(status.signal() == Some(number));
            let left: Vec<String> = folder.names("out");
            let left: Vec<&String> = left.iter().filter(|name| is_left(name)).collect();
            assert!(left.is_empty(), "{signal} leaves {left:?}");
            drop(std::fs::remove_dir_all(folder.at("out")));
        }
    }
    assert!(stopped > 0, "no run was stopped on its way");
}

#[test]
fn a_run_waits_for_another_writer() {
    let folder = inputs();
    std::fs::create_dir(folder.at("out")).unwrap();
    let lock = std::fs::File::create(folder.at("out/.ome-lock")).unwrap();
    lock.lock().unwrap();
    let child = start(&folder, "one");
    std::thread::sleep(Duration::from_millis(600));
    assert!(!folder.at(&deployment("a")).exists());
    drop(lock);
    let done = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!((done.status.code(), said.as_str()), (Some(0), "waiting: another ome writes out\n"));
    assert!(folder.at(&deployment("a")).exists() && !folder.at("out/.ome-lock").exists());
}
