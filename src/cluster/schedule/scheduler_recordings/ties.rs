//! Every way that ties may fall, in turn.

use crate::cluster::schedule::{PodTemplate, TieBreak};

/// The choices of one run: first those in the list, then always the first node.
#[derive(Debug, Default)]
struct Script {
    given: Vec<usize>,
    /// How many nodes there were to choose from.
    sizes: Vec<usize>,
}

impl TieBreak for Script {
    fn choose(&mut self, _: &PodTemplate, nodes: &[&str]) -> Option<usize> {
        let at = self.sizes.len();
        self.sizes.push(nodes.len());
        Some(self.given.get(at).copied().unwrap_or(0))
    }
}

/// Runs until a run is accepted, every run with other choices; false when none is. Late choices
/// change first.
pub(crate) fn any(most: usize, mut run: impl FnMut(&mut dyn TieBreak) -> bool) -> bool {
    let mut given: Vec<usize> = Vec::new();
    for _ in 0..most {
        let mut script = Script { given: given.clone(), sizes: Vec::new() };
        if run(&mut script) {
            return true;
        }
        given.resize(script.sizes.len(), 0);
        loop {
            let Some(last) = given.pop() else { return false };
            if last + 1 < script.sizes[given.len()] {
                given.push(last + 1);
                break;
            }
        }
    }
    false
}
