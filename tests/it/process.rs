//! The tool as a process: exit codes, its name, and a closed pipe.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A call of the tool.
pub(crate) struct Call<'a> {
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Its standard input.
    pub(crate) stdin: &'a str,
    /// Where it runs.
    pub(crate) directory: &'a Path,
    /// Variables over those of the tests, from which the tool's own are taken out.
    pub(crate) env: &'a BTreeMap<String, String>,
    /// How long it may take.
    pub(crate) time: Duration,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Done {
    /// The exit code; none after a signal.
    pub(crate) exit: Option<i32>,
    /// stdout.
    pub(crate) stdout: String,
    /// stderr.
    pub(crate) stderr: String,
}

/// The binary under test: the one that was built with the tests, or the one that `OME_TEST_BIN`
/// names.
pub(crate) fn binary() -> OsString {
    std::env::var_os("OME_TEST_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_ome").into())
}

/// The tool in a directory.
fn command(directory: &Path) -> Command {
    in_directory(binary(), directory)
}

/// A program in a directory, without the tool's own variables, those of the Hub and of proxies, and
/// without color.
pub(crate) fn in_directory(program: impl AsRef<OsStr>, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_listened_to(&name.to_string_lossy()))
    {
        command.env_remove(name);
    }
    command
}

/// Whether the tool listens to a variable.
fn is_listened_to(name: &str) -> bool {
    let name = name.to_uppercase();
    name.starts_with("OME_")
        || name.starts_with("HF_")
        || name.ends_with("_PROXY")
        || name == "SSL_CERT_FILE"
}

/// Makes a call; none when it takes too long.
pub(crate) fn run(call: &Call<'_>) -> Option<Done> {
    let mut child = command(call.directory)
        .args(&call.args)
        .envs(call.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = call.stdin.to_owned();
    let (sender, receiver) = mpsc::channel();
    let both = sender.clone();
    // A call that does not read its input closes the pipe; that is no failure.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    std::thread::spawn(move || sender.send((false, drain(stdout))));
    std::thread::spawn(move || both.send((true, drain(stderr))));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        match receiver.recv_timeout(call.time) {
            Ok((true, bytes)) => err = bytes,
            Ok((false, bytes)) => out = bytes,
            Err(_) => {
                drop(child.kill());
                drop(child.wait());
                return None;
            }
        }
    }
    let status = child.wait().expect("a child that was started can be waited for");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Some(Done { exit: status.code(), stdout: text(out), stderr: text(err) })
}

/// The rest of a stream.
fn drain(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
    }
    bytes
}

/// A directory of its own for one test, removed afterwards.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary directory"));
        for (file, text) in files {
            folder.write(file, text);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let file = self.at(file);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder can be made");
        std::fs::write(file, text).expect("a file can be written");
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.at(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// Files and links at and below a folder, in order.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        fn walk(at: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(at).into_iter().flatten() {
                let path = entry.expect("an entry").path();
                if path.is_dir() && !path.is_symlink() {
                    walk(&path, root, found);
                } else {
                    let below = path.strip_prefix(root).expect("below the folder");
                    found.push(below.display().to_string());
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.at(folder), &self.at(folder), &mut found);
        found.sort();
        found
    }

    /// Calls the tool in the folder, with arguments parted by spaces.
    pub(crate) fn ome(&self, args: &str) -> Done {
        self.ome_with(args, &[])
    }

    /// The same with variables of its own.
    pub(crate) fn ome_with(&self, args: &str, env: &[(&str, &str)]) -> Done {
        self.ome_below("", args, env)
    }

    /// The same in a directory of the folder.
    pub(crate) fn ome_below(&self, directory: &str, args: &str, env: &[(&str, &str)]) -> Done {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        run(&Call {
            args: args.split(' ').map(ToOwned::to_owned).collect(),
            stdin: "",
            directory: &self.at(directory),
            env: &env.iter().map(own).collect(),
            time: Duration::from_mins(1),
        })
        .expect("it ends in time")
    }

    /// The same call as a child that is not started yet.
    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = command(self.path());
        command.args(args.split(' ')).stdin(Stdio::null());
        command
    }
}

/// Calls the tool in the root of the repository.
fn ome(args: &[&str]) -> Done {
    let call = Call {
        args: args.iter().map(ToString::to_string).collect(),
        stdin: "",
        directory: Path::new(env!("CARGO_MANIFEST_DIR")),
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    };
    run(&call).expect("the call ends within a minute")
}

#[test]
fn version_prints_the_name_and_version() {
    let done = ome(&["--version"]);
    assert_eq!(
        (done.exit, done.stdout.as_str(), done.stderr.as_str()),
        (Some(0), concat!("ome ", env!("CARGO_PKG_VERSION"), "\n"), "")
    );
}

#[test]
fn exit_codes_are_0_for_success_and_1_for_errors() {
    for (args, exit, talk) in [
        (["plan", "-f", "testdata/quickstart"].as_slice(), 0, ""),
        (&["plan", "-f", "testdata/no-such-place"], 1, "no-such-place"),
        (&["plan", "--no-such-flag"], 1, "--no-such-flag"),
        (&["explain", "nobody", "-f", "testdata/quickstart"], 1, "nobody"),
        (&["completions", "fish"], 0, ""),
        (&["--help"], 0, ""),
    ] {
        let done = ome(args);
        assert_eq!(done.exit, Some(exit), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(talk), "{args:?}: {}", done.stderr);
        assert!(exit == 1 || !done.stdout.is_empty(), "{args:?}: data goes to stdout");
    }
}

#[test]
fn a_closed_stdout_pipe_is_not_an_error() {
    let mut child = command(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args(["explain", "-f", "testdata/quickstart", "-o", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    // Nobody will read a byte of it.
    drop(child.stdout.take());
    let done = child.wait_with_output().expect("a child that was started can be waited for");
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""));
}
