//! Models against accelerator classes: which runtime would serve which model on which class.

use super::engines::Engines;
use crate::api::{Api, Follow, Runtime};
use crate::catalog::Catalog;
use crate::decision::{CacheFit, Candidate, Rank, Verdict};
use crate::operators::Selector;
use ecow::EcoString;
use rayon::prelude::*;

/// The outcome for one model on one class.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// One runtime is selected.
    Winner(EcoString),
    /// Several runtimes that differ only in age or name; the first one is selected.
    Tie(Vec<EcoString>),
    /// A runtime would be selected, and its server would not start on the class.
    Misfit(EcoString, String),
    /// No runtime, with the reason.
    Hole(String),
}

/// One cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Model.
    pub model: EcoString,
    /// Class.
    pub class: EcoString,
    /// Outcome for the two.
    pub outcome: Outcome,
    /// The KV cache of the runtime on the class, if it was requested and is known.
    pub cache: Option<Box<CacheFit>>,
}

/// The whole table, by model and class.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Models by name.
    pub models: Vec<EcoString>,
    /// Classes by name.
    pub classes: Vec<EcoString>,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
}

/// Every model on every class; `context` adds the KV cache.
pub fn matrix(catalog: &Catalog, semantics: Follow, context: bool) -> Matrix {
    let Some(policy) = catalog.policy(Api::Ome, semantics) else { return Matrix::default() };
    let selector = Selector::new(policy, catalog);
    let engines = Engines::new(catalog);
    let mut models: Vec<_> =
        catalog.models().filter(|model| model.object.api == policy.api).collect();
    models.sort_by(|a, b| a.object.id.name.cmp(&b.object.id.name));
    let classes: Vec<EcoString> = catalog
        .classes(semantics)
        .filter(|class| catalog.is_candidate_class(class))
        .map(|class| class.name().clone())
        .collect();
    let cells = models
        .par_iter()
        .flat_map_iter(|model| {
            let ranked = selector.rank_for(model);
            let row: Vec<Cell> = classes
                .iter()
                .map(|class| {
                    let (mut outcome, runtime) = match &ranked {
                        Ok(decision) => outcome(&selector, &decision.candidates, class),
                        Err(error) => (Outcome::Hole(error.message.clone()), None),
                    };
                    let judged = runtime.and_then(|runtime| {
                        let memory = selector.memory_of(class)?;
                        engines.of_runtime(policy, model, runtime, class.clone(), memory)
                    });
                    let (cache, stopped) = judged.unwrap_or_default();
                    let cache = cache.filter(|_| context);
                    if let (Some(reason), Some(runtime)) = (stopped, runtime) {
                        outcome = Outcome::Misfit(runtime.object.id.name.clone(), reason);
                    }
                    Cell {
                        model: model.object.id.name.clone(),
                        class: class.clone(),
                        outcome,
                        cache: cache.map(Box::new),
                    }
                })
                .collect();
            row
        })
        .collect();
    Matrix {
        models: models.iter().map(|model| model.object.id.name.clone()).collect(),
        classes,
        cells,
    }
}

/// The outcome for a model on a class, and the runtime that would be selected.
fn outcome<'a>(
    selector: &Selector<'a>,
    candidates: &[Candidate<'a>],
    class: &str,
) -> (Outcome, Option<&'a Runtime>) {
    let eligible = candidates.iter().filter(|candidate| candidate.verdict != Verdict::Rejected);
    let mut taken: Vec<(&'a Runtime, Option<Rank>)> = Vec::new();
    let mut refusal = None;
    for candidate in eligible {
        let reasons = selector.refuses(candidate.runtime, class);
        if reasons.is_empty() {
            taken.push((candidate.runtime, candidate.rank));
        } else if refusal.is_none() {
            let reasons: Vec<&str> = reasons.iter().map(|reason| reason.detail.as_str()).collect();
            refusal = Some(format!("{}: {}", candidate.runtime.object.id.name, reasons.join(", ")));
        }
    }
    let name = |runtime: &Runtime| runtime.object.id.name.clone();
    let outcome = match taken.as_slice() {
        [] => Outcome::Hole(
            refusal
                .or_else(|| nearest(candidates))
                .unwrap_or_else(|| "no runtime is loaded".into()),
        ),
        [(runtime, _)] => Outcome::Winner(name(runtime)),
        [(runtime, rank), others @ ..] => {
            let equal: Vec<EcoString> = others
                .iter()
                .take_while(|(_, other)| other == rank)
                .map(|(runtime, _)| name(runtime))
                .collect();
            if equal.is_empty() {
                Outcome::Winner(name(runtime))
            } else {
                Outcome::Tie(std::iter::once(name(runtime)).chain(equal).collect())
            }
        }
    };
    (outcome, taken.first().map(|(runtime, _)| *runtime))
}

/// The rejected runtime with the fewest failed rules.
fn nearest(candidates: &[Candidate<'_>]) -> Option<String> {
    let candidate = candidates.iter().find(|candidate| candidate.verdict == Verdict::Rejected)?;
    let reasons: Vec<String> =
        candidate.reasons.iter().map(|rejection| rejection.reason.to_string()).collect();
    Some(format!("{}: {}", candidate.runtime.object.id.name, reasons.join(", ")))
}
