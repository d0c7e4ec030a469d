//! The workspace as a request sees it: places of the protocol as places of texts, and back.

use crate::api::Object;
use crate::cli::input::Session;
use crate::diag::Diagnostic;
use crate::load::full;
use crate::source::{SourceId, SourceKind, Span};
use lsp_types::{Location, Position, Range, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The result of the last read.
pub(super) struct Context {
    /// Everything that was read.
    pub(super) session: Session,
    /// Everything that `validate` finds.
    pub(super) found: Vec<Diagnostic>,
    root: PathBuf,
    /// Texts by the full path of their file.
    files: BTreeMap<PathBuf, SourceId>,
    /// The full path of each text.
    paths: BTreeMap<SourceId, PathBuf>,
    /// Versions of texts that the editor has open.
    pub(super) versions: BTreeMap<PathBuf, i32>,
}

/// Characters of a path that are not escaped in a URI.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The address of a file.
pub(super) fn uri_of(path: &Path) -> Option<Uri> {
    let text = path.to_str()?.replace('\\', "/");
    let root = if text.starts_with('/') { "" } else { "/" };
    Uri::from_str(&format!("file://{root}{}", utf8_percent_encode(&text, PLAIN))).ok()
}

/// Returns the path of a URI; `None` if it is not a file.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // The part before the path is a host. It is ignored: all open files are on this machine.
    let path = &rest[rest.find('/')?..];
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // `/c:/a` of Windows.
    let is_drive = path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { &path[1..] } else { &*path }))
}

impl Context {
    pub(super) fn new(session: Session, found: Vec<Diagnostic>, root: &Path) -> Self {
        let mut context = Self {
            root: root.to_owned(),
            session,
            found,
            files: BTreeMap::new(),
            paths: BTreeMap::new(),
            versions: BTreeMap::new(),
        };
        for (id, source) in context.session.world.sources.iter() {
            if matches!(source.kind, SourceKind::File | SourceKind::Settings) {
                let path = context.full_path(&source.name);
                context.files.insert(path.clone(), id);
                context.paths.insert(id, path);
            }
        }
        context
    }

    /// The full path of a file that a source or a finding names.
    pub(super) fn full_path(&self, name: &str) -> PathBuf {
        full(&self.root, Path::new(name))
    }

    /// The text of an address.
    pub(super) fn source(&self, uri: &Uri) -> Option<SourceId> {
        self.files.get(&path_of(uri)?).copied()
    }

    /// The file of a text.
    pub(super) fn path(&self, id: SourceId) -> Option<&PathBuf> {
        self.paths.get(&id)
    }

    /// A position of a text, as a place without length.
    pub(super) fn place(&self, id: SourceId, position: Position) -> Span {
        let source = self.session.world.sources.get(id);
        let start = source.offset_of_utf16(position.line, position.character);
        Span { source: id, start, end: start }
    }

    /// A place as the protocol names it.
    pub(super) fn range(&self, span: Span) -> Range {
        let source = self.session.world.sources.get(span.source);
        let position = |offset| {
            let (line, character) = source.utf16(offset);
            Position { line, character }
        };
        Range { start: position(span.start), end: position(span.end.max(span.start)) }
    }

    /// Returns the location of a span; `None` if its source is not a file.
    pub(super) fn location(&self, span: Span) -> Option<Location> {
        let uri = uri_of(self.path(span.source)?)?;
        Some(Location { uri, range: self.range(span) })
    }

    /// The object at a place.
    pub(super) fn object(&self, place: Span) -> Option<&Object> {
        let catalog = &self.session.world.catalog;
        let (start, id) = catalog.owner(place)?;
        catalog.objects().find(|object| {
            let span = object.span;
            span.source == place.source && span.start == start && object.id == *id
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_uris_convert_to_paths_and_back() {
        for path in ["/a/b.yaml", "/with space/é#?%.yaml", "/a+b/[c]{d}.yml"] {
            let uri = uri_of(Path::new(path)).unwrap();
            assert_eq!(path_of(&uri), Some(PathBuf::from(path)), "{uri:?}");
        }
        for (uri, path) in [
            ("file:///a/b%20c.yaml", Some("/a/b c.yaml")),
            ("file://localhost/a.yaml", Some("/a.yaml")),
            ("file:///c%3A/a.yaml", Some("c:/a.yaml")),
            ("untitled:Untitled-1", None),
            ("file:///a%ff", None),
            ("file://host", None),
        ] {
            let found = path_of(&Uri::from_str(uri).unwrap());
            assert_eq!(found, path.map(PathBuf::from), "{uri}");
        }
    }
}
