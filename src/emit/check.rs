//! `--check PATH`: a directory compared with what would be written.

use super::Error;
use super::disk::{Found, Root};
use super::ledger::{Ledger, Options, same_text};
use crate::secret;
use crate::yaml::Node;
use std::fmt;
use std::path::Path;

/// The state of a file compared with the file that would be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It is not there.
    Missing,
    /// It has other content than an earlier run wrote and than this one would.
    Edited,
    /// It has what an earlier run wrote, and the input has changed since.
    Stale,
    /// It has other content, and no run is known to have written it.
    Differs,
    /// The manifest lists it and it would no longer be written.
    Unexpected,
}

/// A file that is not as it would be written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Path within the directory.
    pub path: String,
    /// The difference.
    pub state: State,
    /// A unified diff from the file to the text that would be written; for a file that differs, if
    /// requested.
    pub lines: Option<String>,
}

impl fmt::Display for Difference {
    /// `missing default/chat/service-chat.yaml`, and the lines that differ below it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Missing => "missing",
            State::Edited => "differs (edited by hand)",
            State::Stale => "differs (stale)",
            State::Differs => "differs",
            State::Unexpected => "unexpected",
        };
        write!(f, "{state} {}", self.path)?;
        self.lines.as_ref().map_or(Ok(()), |lines| write!(f, "\n{}", lines.trim_end()))
    }
}

/// A directory that is being compared; nothing is written.
#[derive(Debug)]
pub struct Check {
    ledger: Ledger,
    differences: Vec<Difference>,
    lines: bool,
}

impl Check {
    /// Opens a directory; one that is not there is empty.
    ///
    /// # Errors
    /// A manifest that cannot be read or leads elsewhere.
    pub fn open(root: &Path, options: Options) -> Result<Self, Error> {
        let ledger = Ledger::open(Root::new(root), options)?;
        Ok(Self { ledger, differences: Vec::new(), lines: false })
    }

    /// The same, keeping the lines that differ.
    #[must_use]
    pub fn with_lines(self, lines: bool) -> Self {
        Self { lines, ..self }
    }

    /// Compares an object of a service, with its YAML, to its file.
    ///
    /// # Errors
    /// As [`super::Directory::write`].
    pub fn compare(
        &mut self,
        object: &Node,
        text: &str,
        namespace: &str,
        service: &str,
    ) -> Result<(), Error> {
        let path = self.ledger.take(object, text, namespace, service)?;
        self.look(path, text)
    }

    fn look(&mut self, path: String, text: &str) -> Result<(), Error> {
        let difference = match self.ledger.root.look(&path)? {
            // Ends of lines are those of the clone, which git chooses.
            Found::File(file) if same_text(&file.content, text.as_bytes()) => return Ok(()),
            Found::File(file) => {
                let lines = self
                    .lines
                    .then(|| unified(&String::from_utf8_lossy(&file.content), text, &path));
                // An earlier run's sum tells an edit by hand from a change of the input.
                let state = match self.ledger.wrote(&path, &file.content) {
                    Some(true) => State::Stale,
                    Some(false) => State::Edited,
                    None => State::Differs,
                };
                Difference { path, state, lines }
            }
            Found::Nothing => Difference { path, state: State::Missing, lines: None },
            Found::Other(_) => Difference { path, state: State::Differs, lines: None },
        };
        self.differences.push(difference);
        Ok(())
    }

    /// Returns all differences, by path. Surplus files are reported only if the `whole` input was
    /// read.
    ///
    /// # Errors
    /// As [`super::Directory::write`].
    pub fn finish(mut self, whole: bool) -> Result<Vec<Difference>, Error> {
        for (path, text) in self.ledger.kustomizations(whole) {
            // The sum is not looked at: the name alone keeps the file from being surplus.
            self.ledger.now.insert(path.clone(), String::new());
            self.look(path, &text)?;
        }
        let mut differences = self.differences;
        differences.extend(self.ledger.rest(whole).1.into_iter().map(|path| Difference {
            path: path.clone(),
            state: State::Unexpected,
            lines: None,
        }));
        differences.sort();
        Ok(differences)
    }
}

/// A unified diff, as `git diff` shows it, without secrets: it goes into the logs of a pipeline.
fn unified(before: &str, after: &str, path: &str) -> String {
    let (before, after) = (secret::masked(before), secret::masked(after));
    if before == after {
        return "only secret values differ: they are not shown".to_owned();
    }
    similar::TextDiff::from_lines(&before, &after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}
