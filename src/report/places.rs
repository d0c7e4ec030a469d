//! Locations as code hosts name them: file paths relative to the root of the repository,
//! independent of the working directory.

use crate::diag::Diagnostic;
use crate::source::{Location, SourceMap, Span};
use crate::yaml::Origin;
use std::path::{Component, Path, PathBuf};

/// A repository, and the working directory in it.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Its root.
    pub root: PathBuf,
    /// The working directory.
    pub here: PathBuf,
}

/// The sources, with file paths relative to the root of their repository.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    sources: &'a SourceMap,
    repository: Option<Repository>,
}

impl<'a> Places<'a> {
    /// Paths are relative to the root of the repository, or as given without a repository.
    pub fn new(sources: &'a SourceMap, repository: Option<Repository>) -> Self {
        Self { sources, repository }
    }

    /// The sources.
    pub fn sources(&self) -> &'a SourceMap {
        self.sources
    }

    /// The location of a span.
    pub fn locate(&self, span: Span) -> Location {
        let place = self.sources.locate(span);
        Location { file: self.file(&place.file).into(), ..place }
    }

    /// The path of a file that was read under `name`.
    pub fn file(&self, name: &str) -> String {
        let plain = || name.strip_prefix("./").unwrap_or(name).to_owned();
        // Standard input and built-in sources are not files of a repository.
        let Some(Repository { root, here }) =
            self.repository.as_ref().filter(|_| !name.starts_with(['<', '[']))
        else {
            return plain();
        };
        let mut path = PathBuf::new();
        for part in here.join(name).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    path.pop();
                }
                part => path.push(part),
            }
        }
        // A file outside of the repository keeps the name that was given.
        path.strip_prefix(root).map_or_else(|_| plain(), slashes)
    }

    /// The file of a finding, if it has one.
    pub fn file_of(&self, finding: &Diagnostic) -> Option<String> {
        let named = || finding.file.as_deref().map(|file| self.file(file));
        finding.span().map(|span| self.file(&self.sources.get(span.source).name)).or_else(named)
    }
}

fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// `file:line` of a value from a file, or the source of a known fact.
pub(super) fn origin(origin: Origin, sources: &SourceMap) -> Option<String> {
    match origin {
        Origin::Fact(source) => Some(sources.get(source).name.to_string()),
        _ => origin.span().map(|span| sources.locate(span).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_root() {
        let sources = SourceMap::new();
        let repository = Repository { root: "/r".into(), here: "/r/apps/team".into() };
        let places = Places::new(&sources, Some(repository));
        for (name, expected) in [
            ("a.yaml", "apps/team/a.yaml"),
            ("./b/../a.yaml", "apps/team/a.yaml"),
            ("../x/a.yaml", "apps/x/a.yaml"),
            ("/r/c.yaml", "c.yaml"),
            ("/elsewhere/c.yaml", "/elsewhere/c.yaml"),
            ("../../../out.yaml", "../../../out.yaml"),
            ("<stdin>", "<stdin>"),
        ] {
            assert_eq!(places.file(name), expected, "{name}");
        }
        assert_eq!(Places::new(&sources, None).file("./a.yaml"), "a.yaml");
    }
}
