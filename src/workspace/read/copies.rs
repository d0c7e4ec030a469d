//! Objects of a cluster's state below directories of tests and of other projects: nodes, quotas and
//! claims that a program's fixtures have are nobody's cluster.

use super::dispatch::Read;
use crate::diag::{Code, Diagnostic, quoted};
use crate::load::kinds;
use crate::source::SourceMap;
use std::collections::BTreeMap;

/// How many were left out of each directory.
#[derive(Default)]
pub(super) struct Copies(BTreeMap<String, usize>);

impl Copies {
    /// Whether an object is left out.
    pub(super) fn take(
        &mut self,
        read: &Read,
        sources: &SourceMap,
        requested: Option<&str>,
    ) -> bool {
        let object = match read {
            Read::Item(item) => item.object(),
            Read::Settings(_, object) => object,
        };
        if !kinds::is_state(&object.id.kind) {
            return false;
        }
        let Some(directory) = sources.get(object.span.source).copies(requested) else {
            return false;
        };
        *self.0.entry(directory).or_default() += 1;
        true
    }

    pub(super) fn findings(self) -> impl Iterator<Item = Diagnostic> {
        self.0.into_iter().map(|(directory, count)| {
            let what = match count {
                1 => "1 object of a cluster's state is".to_owned(),
                _ => format!("{count} objects of a cluster's state are"),
            };
            let help = format!("`-f {}` counts what is in it", quoted(&directory));
            Diagnostic::new(Code::CopiesLeftOut, format!("copies: {what} not counted"))
                .in_file(directory)
                .help(help)
        })
    }
}
