//! The definitions of one service in several directories, with the command that explains each.

use super::sheet::Sheet;
use crate::pipeline::Variant;
use crate::source::SourceMap;
use serde_json::{Value, json};

/// The definitions in JSON.
pub(super) fn json(variants: &[Variant], sources: &SourceMap) -> Value {
    variants
        .iter()
        .map(|variant| {
            let place = sources.locate(variant.place);
            let mut out = json!({
                "directory": variant.directory.as_str(),
                "file": &*place.file,
                "line": place.line,
                "explained": variant.explained,
            });
            if let Some(command) = &variant.command {
                out["command"] = command.as_str().into();
            }
            out
        })
        .collect()
}

/// The definitions as a fact of a page, those that it is not about with their commands.
pub(super) fn list(variants: &[Variant], sources: &SourceMap, out: &mut Sheet) {
    let line = |variant: &Variant| {
        let place = sources.locate(variant.place);
        let (directory, file, line) = (&variant.directory, &place.file, place.line);
        if variant.explained {
            format!("{directory}  {file}:{line}  on this page")
        } else if let Some(command) = &variant.command {
            format!("{directory}  {file}:{line}  `{command}`")
        } else {
            format!("{directory}  {file}:{line}  one of several files of its directory")
        }
    };
    // The first line has the name of the fact.
    let mut lines = variants.iter().map(line);
    if let Some(first) = lines.next() {
        out.fact("variants", first);
        lines.for_each(|line| out.more(line));
    }
}
