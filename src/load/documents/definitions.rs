//! Definitions of kinds that no answer reads: further ones of a name below one path.
//!
//! In: the texts of the input. Out: where in a text each of them begins its `spec`, which is not
//! parsed. Repositories of operators hold the definitions of all their releases, megabytes each.

use super::reading::is_left_out;
use crate::load::find::Input;
use crate::load::helm::Charts;
use crate::source::{SourceId, SourceMap, definition_head};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// Places of the `spec` of definitions, by text.
pub(super) type Skimmed = HashMap<SourceId, HashSet<usize>>;

/// A definition of a kind.
struct Found<'t> {
    source: SourceId,
    name: &'t str,
    /// Where its `spec` begins.
    at: usize,
}

/// The definitions that are read by their heads. Those of the first directory that is none of tests
/// are read whole, as `catalog::preferred` selects them.
pub(super) fn skimmed(
    readable: &[(SourceId, Option<Input>)],
    sources: &SourceMap,
    charts: &Charts<'_>,
) -> Skimmed {
    let found: Vec<Found<'_>> = readable
        .par_iter()
        // A file that was named is read whole: its findings are wanted.
        .flat_map_iter(|(id, input)| {
            let text = &*sources.get(*id).text;
            let in_tree =
                input.as_ref().filter(|input| !input.named && sources.get(*id).root.is_some());
            let reads = in_tree.is_some_and(|input| {
                text.contains("\nkind: CustomResourceDefinition")
                    && !is_left_out(input.path.as_deref(), charts, text)
            });
            reads.then(|| definitions(*id, text)).into_iter().flatten()
        })
        .collect();
    let source = |at: usize| sources.get(found[at].source);
    // Below another path there may be another state of the cluster, as in a comparison.
    let key = |at: usize| (source(at).root.as_deref(), found[at].name);
    let mut first: HashMap<(Option<&str>, &str), (bool, usize)> = HashMap::new();
    for at in 0..found.len() {
        // Tests and examples hold copies that are cut down, so they rank last.
        let rank = (source(at).is_aside(), at);
        first.entry(key(at)).and_modify(|other| *other = rank.min(*other)).or_insert(rank);
    }
    let mut skimmed = Skimmed::new();
    for (at, found) in found.iter().enumerate() {
        let (_, kept) = first[&key(at)];
        // Definitions of one name in one directory are compared with each other, so both stay
        // whole.
        if source(kept).directory() != source(at).directory() {
            skimmed.entry(found.source).or_default().insert(found.at);
        }
    }
    skimmed
}

/// The definitions of a text whose `apiVersion`, `kind` and name come before their `spec`, each key
/// at the beginning of a line.
fn definitions(source: SourceId, text: &str) -> impl Iterator<Item = Found<'_>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        while start < text.len() {
            let end = text[start..].find("\n---").map_or(text.len(), |at| start + at + 1);
            let (text, from) = (&text[start..end], start);
            start = end + "---".len();
            if let Some((name, at)) = definition_head(text) {
                return Some(Found { source, name, at: from + at });
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_definition_ends_with_its_spec() {
        let text = "# c\napiVersion: v1\nkind: ConfigMap\nspec: {}\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    name: x\n  name: a.b.c\nspec:\n  group: b.c\n";
        let found: Vec<(&str, usize)> =
            definitions(SourceId(0), text).map(|found| (found.name, found.at)).collect();
        assert_eq!(found, [("a.b.c", text.find("spec:\n").unwrap())]);
        for other in [
            "kind: CustomResourceDefinition\nmetadata:\n  name: a\nspec: {}\n",
            "spec: {}\nkind: CustomResourceDefinition\nmetadata:\n  name: a\n",
        ] {
            assert_eq!(definitions(SourceId(0), other).count(), 0, "{other}");
        }
    }
}
