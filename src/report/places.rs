//! Places as the machines of a repository name them: files from the root of the repository,
//! wherever in it the tool was called.

use crate::diag::Diagnostic;
use crate::source::{Location, SourceMap, Span};
use crate::yaml::Origin;
use std::path::{Component, Path, PathBuf};

/// A repository, and where in it the tool was called.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Its root.
    pub root: PathBuf,
    /// The working directory.
    pub here: PathBuf,
}

/// The texts, with files named from the root of their repository.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    sources: &'a SourceMap,
    repository: Option<Repository>,
}

impl<'a> Places<'a> {
    /// Names files from the root of a repository, or as they were given where there is none.
    pub fn new(sources: &'a SourceMap, repository: Option<Repository>) -> Self {
        Self { sources, repository }
    }

    /// The texts.
    pub fn sources(&self) -> &'a SourceMap {
        self.sources
    }

    /// The place of a span.
    pub fn locate(&self, span: Span) -> Location {
        let place = self.sources.locate(span);
        Location { file: self.file(&place.file).into(), ..place }
    }

    /// A file by the name under which it was read.
    pub fn file(&self, name: &str) -> String {
        let plain = || name.strip_prefix("./").unwrap_or(name).to_owned();
        // Standard input and what is built in are no files of a repository.
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
        path.strip_prefix(root).map_or_else(|_| plain(), slashes)
    }

    /// The file of a finding, when it has one.
    pub fn file_of(&self, finding: &Diagnostic) -> Option<String> {
        let named = || finding.file.as_deref().map(|file| self.file(file));
        finding.span().map(|span| self.file(&self.sources.get(span.source).name)).or_else(named)
    }
}

fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// `file:line` of what a text wrote, or what a value is known from.
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
