//! Models against accelerator classes: which runtime would serve which model on which class. A
//! service that describes its own model is a row too: whether its pods would run on the class.

use super::engines::Engines;
use super::plan::Planner;
use super::planned::{Depth, Planned};
use crate::api::{AcceleratorClass, Api, Runtime, Views};
use crate::catalog::Catalog;
use crate::decision::{CacheFit, Candidate, Rank, Verdict};
use crate::operators::Selector;
use crate::pods::built::{Built, Component};
use crate::quantity::is_accelerator;
use crate::yaml::Node;
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
    /// Namespace and name of the service that describes the model itself.
    pub service: Option<EcoString>,
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
    /// Models by name, then those that services describe.
    pub models: Vec<EcoString>,
    /// Classes by name.
    pub classes: Vec<EcoString>,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
}

/// Every model on every class; `context` adds the KV cache.
pub fn matrix(catalog: &Catalog, context: bool) -> Matrix {
    let Some(policy) = catalog.policy(Api::Ome) else { return Matrix::default() };
    let selector = Selector::new(policy, catalog);
    let engines = Engines::new(catalog);
    let mut models: Vec<_> =
        catalog.models().filter(|model| model.object.api == policy.api).collect();
    models.sort_by(|a, b| a.object.id.name.cmp(&b.object.id.name));
    let of_classes: Vec<&AcceleratorClass> =
        catalog.classes().filter(|class| catalog.is_candidate_class(class)).collect();
    let classes: Vec<EcoString> = of_classes.iter().map(|class| class.name().clone()).collect();
    // Models are independent: their rows are computed in parallel and kept in order.
    let mut cells: Vec<Cell> = models
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
                        service: None,
                        class: class.clone(),
                        outcome,
                        cache: cache.map(Box::new),
                    }
                })
                .collect();
            row
        })
        .collect();
    let mut names: Vec<EcoString> =
        models.iter().map(|model| model.object.id.name.clone()).collect();
    let planner = Planner::new(catalog);
    let described = Described { planner: &planner, selector: &selector, context };
    let rows: Vec<(EcoString, Vec<Cell>)> = catalog
        .services()
        .collect::<Vec<_>>()
        .into_par_iter()
        .filter_map(|views| described.row(views, &of_classes))
        .collect();
    for (name, row) in rows {
        names.push(name);
        cells.extend(row);
    }
    Matrix { models: names, classes, cells }
}

/// Rows of services that describe their own model.
struct Described<'p, 'a> {
    planner: &'p Planner<'a>,
    /// Reads the classes.
    selector: &'p Selector<'a>,
    context: bool,
}

impl Described<'_, '_> {
    /// The row of a service; none where the facts of its model are not known.
    fn row(&self, views: &Views, classes: &[&AcceleratorClass]) -> Option<(EcoString, Vec<Cell>)> {
        let service = views.followed();
        if service.object.builtin {
            return None;
        }
        let model = self.planner.engines().known_model(service)?;
        let (planned, built) = self.planner.plan_built(views, Depth::Plan);
        let cell = |class: &&AcceleratorClass| {
            let (outcome, cache) = self.outcome(&planned, built.as_ref(), class);
            Cell {
                model: model.clone(),
                service: Some(planned.service.to_string().into()),
                class: class.name().clone(),
                outcome,
                cache: cache.filter(|_| self.context).map(Box::new),
            }
        };
        let cells = classes.iter().map(cell).collect();
        Some((ecow::eco_format!("{model} ({})", planned.service), cells))
    }

    fn outcome(
        &self,
        planned: &Planned<'_>,
        built: Option<&Built<'_>>,
        class: &AcceleratorClass,
    ) -> (Outcome, Option<CacheFit>) {
        if let Some(error) = &planned.error {
            return (Outcome::Hole(error.message.clone()), None);
        }
        let configs = &planned.resolution.configs;
        // Without a configuration the pods are not those that would run.
        if let Some(absent) = configs.iter().find(|config| config.found.is_none()) {
            let reason = format!("the shipped configuration `{}` was not read", absent.name);
            return (Outcome::Hole(reason), None);
        }
        let Some(built) = built.filter(|built| !built.components.is_empty()) else {
            return (Outcome::Hole("it has no pods".into()), None);
        };
        // What it runs by: the runtime, else the configuration of the workload.
        let by = planned.resolution.chosen().map(|runtime| runtime.object.id.name.clone());
        let by = by.or_else(|| Some(configs.iter().rfind(|config| config.preset)?.name.clone()));
        let by = by.unwrap_or_else(|| planned.service.name.clone());
        if let Some(reason) =
            built.components.iter().find_map(|component| elsewhere(component, class))
        {
            return (Outcome::Hole(format!("{by}: {reason}")), None);
        }
        let Some(memory) = self.selector.memory_of(class.name()) else {
            return (Outcome::Winner(by), None);
        };
        let mut first = None;
        for component in &built.components {
            let engines = self.planner.engines();
            let name = class.name().clone();
            let (cache, stopped) = engines.of_component(built.service, component, name, memory);
            if let Some(reason) = stopped {
                return (Outcome::Misfit(by, reason), None);
            }
            // The engine is the first component; its cache is the one of the row.
            first = first.or(cache);
        }
        (Outcome::Winner(by), first)
    }
}

/// Why the pods of a component do not land on nodes of a class: their devices, their selectors.
fn elsewhere(component: &Component, class: &AcceleratorClass) -> Option<String> {
    let containers = component.pod.items_of("containers").iter();
    let devices: Vec<&str> = containers
        .flat_map(|container| {
            let limits = container.at(&["resources", "limits"]).map(Node::entries);
            limits.into_iter().flatten().map(|entry| entry.key.as_str())
        })
        .filter(|key| is_accelerator(key))
        .collect();
    let offered: Vec<&str> =
        class.whole_resources().map(|resource| resource.name.value.as_str()).collect();
    let kind = component.kind.as_str();
    match devices.iter().find(|key| !offered.contains(*key)) {
        Some(key) if !offered.is_empty() => {
            return Some(format!(
                "the {kind} requests {key}, the class has {}",
                offered.join(", ")
            ));
        }
        None if devices.is_empty() => {
            return Some(format!("the {kind} requests no devices"));
        }
        _ => {}
    }
    let selector = component.pod.get("nodeSelector").map(Node::entries).into_iter().flatten();
    // A label that the class does not list may still be on its nodes, so that it excludes nothing.
    let labels = class.discovery.node_selector.as_ref()?;
    selector.filter_map(|entry| Some((entry, labels.get(&entry.key)?))).find_map(
        |(entry, label)| {
            let (wanted, has) = (entry.node.scalar_text()?, label.scalar_text()?);
            let key = &entry.key;
            (wanted != has)
                .then(|| format!("the {kind} selects {key}={wanted}, the class {key}={has}"))
        },
    )
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
                // The list is in order of rank: equal ones follow the first.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::world_of;

    const INPUT: &str = "
apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: large}
spec: {vendor: nvidia, capabilities: {memoryGB: 80Gi}, resources: [{name: nvidia.com/gpu}], discovery: {nodeSelector: {size: l}}}
---
apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: other}
spec: {vendor: amd, capabilities: {memoryGB: 192Gi}, resources: [{name: amd.com/gpu}]}
---
apiVersion: ome.io/v1beta1
kind: AcceleratorClass
metadata: {name: small}
spec: {vendor: nvidia, capabilities: {memoryGB: 24Gi}, resources: [{name: nvidia.com/gpu}]}
---
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: kserve-config-llm-template, namespace: kserve}
spec:
  template:
    containers:
    - {name: main, image: 'vllm/vllm-openai:v0.10.0', command: [bash, -c], args: ['eval \"exec vllm serve /m --tensor-parallel-size 4\"']}
---
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: big, namespace: chat}
spec:
  model: {uri: 'hf://meta-llama/Llama-3.3-70B-Instruct'}
  template:
    SELECTOR
    containers: [{name: main, resources: {limits: {nvidia.com/gpu: 4}}}]
";

    fn cells(input: &str) -> Vec<(String, String)> {
        let world = world_of(input);
        let found = matrix(&world.catalog, false);
        let of_service = found.cells.into_iter().filter(|cell| cell.service.is_some());
        let state = |outcome| match outcome {
            Outcome::Winner(by) => format!("winner {by}"),
            Outcome::Tie(_) => "tie".to_owned(),
            Outcome::Misfit(by, _) => format!("misfit {by}"),
            Outcome::Hole(reason) => reason,
        };
        of_service.map(|cell| (cell.class.to_string(), state(cell.outcome))).collect()
    }

    #[test]
    fn a_service_that_describes_its_model_is_judged_on_every_class() {
        let unrestricted = |text: &str| text.replace("SELECTOR", "nodeSelector: {}");
        let by = "kserve-config-llm-template";
        let amd = format!("{by}: the workload requests nvidia.com/gpu, the class has amd.com/gpu");
        let expected = |large: String, small: String| {
            vec![
                ("large".to_owned(), large),
                ("other".to_owned(), amd.clone()),
                ("small".to_owned(), small),
            ]
        };
        assert_eq!(
            cells(&unrestricted(INPUT)),
            expected(format!("winner {by}"), format!("misfit {by}"))
        );
        let selecting = INPUT.replace("SELECTOR", "nodeSelector: {size: s}");
        let reason = format!("{by}: the workload selects size=s, the class size=l");
        assert_eq!(cells(&selecting), expected(reason, format!("misfit {by}")));
        let absent = unrestricted(INPUT).replace("name: kserve-config-llm-template", "name: else");
        let reason = format!("the shipped configuration `{by}` was not read");
        let rows = cells(&absent);
        assert!(rows.iter().all(|(_, state)| *state == reason), "{rows:?}");
        let unknown =
            unrestricted(INPUT).replace("meta-llama/Llama-3.3-70B-Instruct", "acme/unknown");
        assert_eq!(cells(&unknown), []);
    }
}
