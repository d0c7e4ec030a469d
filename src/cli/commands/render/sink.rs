//! Where the manifests of a run go: a text, a directory, or a comparison with one.

use super::Written;
use super::pass::Pass;
use crate::cli::{Failure, Io};
use crate::diag::{Code, Diagnostic, quoted};
use crate::emit::{Check, Difference, Directory, Done, Options, State, stream};
use crate::pipeline::identity;
use crate::report::screen;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// `-o`.
#[derive(Clone, Debug)]
pub(super) enum Output {
    Stream(stream::Format),
    /// A line for each object.
    Names,
    Directory(PathBuf),
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "yaml" => Ok(Self::Stream(stream::Format::Yaml)),
            None if text == "json" => Ok(Self::Stream(stream::Format::Json)),
            None if text == "name" => Ok(Self::Names),
            Some(("dir", path)) if !path.is_empty() => Ok(Self::Directory(path.into())),
            _ => Err("accepted are yaml, json, name and dir=PATH".into()),
        }
    }
}

/// The target of `-o`, `--check` and `--diff`.
pub(super) struct Target<'a> {
    pub(super) output: &'a Output,
    pub(super) check: Option<&'a Path>,
    pub(super) lines: bool,
}

/// Where text goes.
pub(super) enum Sink<'a> {
    Stream(stream::Stream, String),
    Names,
    Pass { pass: Box<Pass<'a>>, function: bool },
    Directory(PathBuf, Box<Directory>),
    Check(Box<Check>),
}

impl Sink<'_> {
    /// Opens it.
    pub(super) fn open(
        target: &Target<'_>,
        options: Options,
        io: &mut Io<'_>,
    ) -> Result<Self, Failure> {
        Ok(match (target.output, target.check) {
            (_, Some(path)) => {
                let check = Check::open(path, options)?;
                Self::Check(Box::new(check.with_lines(target.lines)))
            }
            (Output::Directory(path), None) => {
                let mut waiting =
                    || io.say_line(&format!("waiting: another ome writes {}", path.display()));
                let directory = Directory::open(path, options, &mut waiting)?;
                Self::Directory(path.clone(), Box::new(directory))
            }
            (Output::Stream(_) | Output::Names, None)
                if options.force || options.kustomization.is_some() =>
            {
                let flag = if options.force { "--force" } else { "--kustomization" };
                return Err(Failure::Usage(format!(
                    "`{flag}` is about a directory: write one with `-o dir=PATH`"
                )));
            }
            (Output::Names, None) => Self::Names,
            (Output::Stream(format), None) => {
                Self::Stream(stream::Stream::new(*format), String::new())
            }
        })
    }

    /// Writes the objects of a service; returns the findings about it.
    pub(super) fn take(
        &mut self,
        mut written: Written,
        io: &mut Io<'_>,
    ) -> Result<Vec<Diagnostic>, Failure> {
        let diagnostics = std::mem::take(&mut written.diagnostics);
        let (namespace, service) = (&written.namespace, &written.service);
        match self {
            Self::Pass { pass, .. } => pass.take(written),
            Self::Stream(stream, buffer) => {
                for (_, text) in &written.objects {
                    stream.push_text(buffer, text);
                }
                io.print(buffer)?;
                buffer.clear();
            }
            Self::Names => {
                for (object, _) in &written.objects {
                    io.print_line(&identity(object).to_string())?;
                }
            }
            Self::Directory(_, directory) => {
                for (object, text) in &written.objects {
                    directory.write(object, text, namespace, service)?;
                }
            }
            Self::Check(check) => {
                for (object, text) in &written.objects {
                    check.compare(object, text, namespace, service)?;
                }
            }
        }
        Ok(diagnostics)
    }

    /// Finishes the output; returns whether a directory is stale. `unread` is the reason why the
    /// input was not read completely: then nothing is removed.
    pub(super) fn finish(
        self,
        unread: Option<&str>,
        found: &mut Vec<Diagnostic>,
        io: &mut Io<'_>,
    ) -> Result<bool, Failure> {
        match self {
            Self::Stream(stream, mut buffer) => {
                stream.end(&mut buffer);
                io.print(&buffer)?;
                Ok(false)
            }
            Self::Names => Ok(false),
            Self::Pass { pass, function } => {
                if function {
                    pass.answer(found, io)?;
                } else {
                    pass.print(io)?;
                }
                Ok(false)
            }
            Self::Directory(path, directory) => {
                // Nothing is removed unless everything was read.
                let Done { refused, held, removed } = directory.finish(unread.is_none())?;
                found.extend(refused);
                if let (Some(why), 1..) = (unread, held) {
                    found.push(nothing_removed(&path, held, why));
                }
                if !removed.is_empty() {
                    io.say_line(&removal(&path, &removed));
                }
                Ok(false)
            }
            Self::Check(check) => {
                let differences = check.finish(unread.is_none())?;
                for difference in &differences {
                    io.print(&screen::unobeyed(&format!("{difference}\n")))?;
                }
                let is_edited = |difference: &Difference| difference.state == State::Edited;
                if differences.iter().any(is_edited) {
                    io.say_line("files that were edited by hand are written with `--force` alone");
                }
                Ok(!differences.is_empty())
            }
        }
    }
}

/// The command that writes what `--check` compared: the one that was typed, with `-o dir=` in its
/// place.
pub(super) fn renewal(typed: &[OsString]) -> String {
    let mut words = vec!["ome".to_owned()];
    let mut typed = typed.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = typed.next() {
        let directory = match word.strip_prefix("--check=") {
            Some(directory) => Some(directory.to_owned()),
            None if word == "--check" => typed.next().map(String::from),
            None => None,
        };
        match directory {
            Some(directory) => {
                words.extend(["-o".to_owned(), quoted(&format!("dir={directory}"))]);
            }
            // `--diff` goes with `--check` alone.
            None if word == "--diff" => {}
            None => words.push(quoted(&word)),
        }
    }
    words.join(" ")
}

/// The greatest number of services that the message about removed files names.
const NAMED: usize = 5;

/// The message about removed files, with the directories of their services.
fn removal(directory: &Path, removed: &[String]) -> String {
    let parents = removed.iter().filter_map(|path| path.rsplit_once('/'));
    let services: BTreeSet<&str> = parents.map(|(parent, _)| parent).collect();
    let mut named: Vec<String> = services.iter().take(NAMED).map(ToString::to_string).collect();
    if let more @ 1.. = services.len().saturating_sub(NAMED) {
        named.push(format!("and {more} more"));
    }
    let files = if removed.len() == 1 { "1 file" } else { &format!("{} files", removed.len()) };
    let of = if named.is_empty() { String::new() } else { format!(" of {}", named.join(", ")) };
    format!("removed from {}: {files}{of}", directory.display())
}

fn nothing_removed(directory: &Path, held: usize, why: &str) -> Diagnostic {
    let directory = directory.display().to_string();
    let files = if held == 1 { "1 file stays" } else { &format!("{held} files stay") };
    let message = format!(
        "nothing was removed from {directory}, where {files} that this run did not make: {why}"
    );
    Diagnostic::new(Code::NothingRemoved, message).in_file(directory).help(
        "correct the input and run again; `--check` names the files that are missing or differ",
    )
}

#[cfg(test)]
mod tests {
    use super::renewal;
    use std::ffi::OsString;

    #[test]
    fn a_check_names_the_command_that_writes_its_files() {
        for (typed, expected) in [
            ("ome render chat --check out -f in", "ome render chat -o dir=out -f in"),
            ("/bin/ome render --check=a,b --diff", "ome render -o dir=a,b"),
        ] {
            let typed: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
            assert_eq!(renewal(&typed), expected);
        }
    }
}
