//! Objects of a cluster's state below directories of tests and of other projects: nodes, quotas and
//! claims that a program's fixtures have are nobody's cluster. Nor are workloads there, which are
//! read and not counted.

use super::dispatch::Read;
use crate::diag::{Code, Diagnostic, quoted};
use crate::load::kinds;
use crate::source::SourceMap;
use std::collections::BTreeMap;

/// How many objects and how many workloads of each directory are not counted.
#[derive(Default)]
pub(super) struct Copies(BTreeMap<String, [usize; 2]>);

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
        let is_state = kinds::is_state(&object.id.kind);
        if !is_state && !kinds::runs_pods(object.group(), &object.id.kind) {
            return false;
        }
        let Some(directory) = sources.get(object.span.source).copies(requested) else {
            return false;
        };
        self.0.entry(directory).or_default()[usize::from(!is_state)] += 1;
        is_state
    }

    pub(super) fn findings(self) -> impl Iterator<Item = Diagnostic> {
        self.0.into_iter().map(|(directory, [state, workloads])| {
            let counted = |count: usize, what: &str, of: &str| match count {
                0 => None,
                1 => Some(format!("1 {what}{of}")),
                _ => Some(format!("{count} {what}s{of}")),
            };
            let state_is = counted(state, "object", " of a cluster's state");
            let all = state_is.into_iter().chain(counted(workloads, "workload", ""));
            let is = if state + workloads == 1 { "is" } else { "are" };
            let what = format!("{} {is}", all.collect::<Vec<_>>().join(" and "));
            let help = format!("`-f {}` counts what is in it", quoted(&directory));
            Diagnostic::new(Code::CopiesLeftOut, format!("copies: {what} not counted"))
                .in_file(directory)
                .help(help)
        })
    }
}
