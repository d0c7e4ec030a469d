//! The definitions of one service in several directories, with the command that explains each.

use super::sheet::Sheet;
use crate::pipeline::Variant;
use crate::source::SourceMap;
use serde_json::{Value, json};

/// The definitions in JSON.
pub(super) fn json(variants: &[Variant], sources: &SourceMap) -> Value {
    variants
        .iter()
        .map(|own| {
            let place = sources.locate(own.place);
            json!({
                "directory": own.directory.as_str(),
                "file": &*place.file,
                "line": place.line,
                "command": own.command,
                "explained": own.explained,
            })
        })
        .collect()
}

/// The definitions as a fact of a page, those that it is not about with their commands.
pub(super) fn list(variants: &[Variant], sources: &SourceMap, out: &mut Sheet) {
    let line = |own: &Variant| {
        let place = sources.locate(own.place);
        let (directory, file, line) = (&own.directory, &place.file, place.line);
        if own.explained {
            format!("{directory}  {file}:{line}  on this page")
        } else {
            format!("{directory}  {file}:{line}  `{}`", own.command)
        }
    };
    let mut lines = variants.iter().map(line);
    if let Some(first) = lines.next() {
        out.fact("variants", first);
        lines.for_each(|line| out.more(line));
    }
}
