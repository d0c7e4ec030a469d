//! The current results, which expectations are compared with and recorded from.

use crate::api::ComponentKind;
use crate::pipeline::planned::{Planned, PlannedComponent};
use crate::yaml::{Node, Origin, Rule};
use serde_json::Value;
use std::fmt::Write as _;

/// The keys with one value per service, in the order in which they are recorded.
const KEYS: [&str; 6] = ["runtime", "accelerator", "mode", "gpus", "fits", "error"];

static RECORDED: Rule = Rule {
    id: "expectation-recorded",
    text: "an answer that `ome test --record` writes",
    cite: "docs/test.md",
};

/// The component that runs the model, otherwise the first component.
pub(super) fn main<'p>(planned: &'p Planned<'_>) -> Option<&'p PlannedComponent> {
    let runs = |component: &&PlannedComponent| {
        matches!(component.kind, ComponentKind::Engine | ComponentKind::Predictor)
    };
    let components = &planned.components;
    components.iter().find(runs).or(components.first())
}

/// The current value of one of these keys for a service; `None` if it has no value.
pub(super) fn answer(planned: &Planned<'_>, key: &str) -> Option<Value> {
    let component = main(planned);
    match key {
        "runtime" => {
            let chosen = planned.resolution.chosen();
            chosen.map(|runtime| runtime.object.id.name.to_string().into())
        }
        "accelerator" => {
            let mut decisions = planned.resolution.accelerators.iter();
            let decision = decisions.find(|decision| {
                Some(decision.component) == component.map(|component| component.kind)
            });
            decision
                .and_then(|decision| decision.chosen)
                .map(|class| class.name().to_string().into())
        }
        "mode" => component.map(|component| planned.mode_name(component.mode).into()),
        "gpus" => component.and_then(|component| serde_json::to_value(component.gpus()).ok()),
        "fits" => {
            let placed = planned.components.iter().filter(|one| one.placement.is_some());
            let fits: Vec<Option<bool>> = placed.map(PlannedComponent::fits).collect();
            // What has no node does not fit, whatever is not judged of the rest.
            let fits = match fits.as_slice() {
                [] => None,
                all if all.contains(&Some(false)) => Some(false),
                all if all.contains(&None) => None,
                _ => Some(true),
            };
            fits.map(Into::into)
        }
        "error" => planned.error.as_ref().map(|error| error.code.as_str().into()),
        _ => None,
    }
}

/// Why it is open whether the pods of a service serve although all of them have nodes.
pub(super) fn open(planned: &Planned<'_>) -> Option<String> {
    let why = |component: &PlannedComponent| {
        let open = component.placement.as_ref()?.open.as_ref().map(ToString::to_string);
        let stopped = component.stopped.as_ref();
        let settings = component.unread_settings.as_ref();
        open.or_else(|| stopped.map(|why| format!("the server will not start: {why}"))).or_else(
            || settings.map(|file| format!("settings of the server were not read: {file}")),
        )
    };
    planned.components.iter().find_map(why)
}

/// Expectations of services in the format of a file, below a key at `column`.
pub(crate) fn text<'p>(
    services: impl IntoIterator<Item = &'p Planned<'p>>,
    column: usize,
) -> String {
    let indent = " ".repeat(column + 2);
    let mut out = String::new();
    for planned in services {
        let _ = write!(out, "\n{indent}{}:", planned.service);
        for (key, value) in answers(planned) {
            let mut text = String::new();
            crate::yaml::write(&mut text, &Node::from_json(&value, Origin::Flag(&RECORDED)));
            let _ = write!(out, "\n{indent}  {key}: {}", text.trim_end());
        }
    }
    out
}

/// Expectations of services on one line.
pub(crate) fn flow(services: &[Planned<'_>]) -> String {
    let one = |planned: &Planned<'_>| format!("{}: {}", planned.service, line(planned));
    format!("{{ {} }}", services.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// Expectations of one service on one line.
pub(crate) fn line(planned: &Planned<'_>) -> String {
    let answers = answers(planned).into_iter();
    let pairs: Vec<String> = answers.map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// All values of a service; for a service in error, only the error.
fn answers(planned: &Planned<'_>) -> Vec<(&'static str, Value)> {
    let answered = |key| Some((key, answer(planned, key).filter(|answer| !answer.is_null())?));
    match answered("error") {
        // A service in error has no other answers that could be relied on.
        Some(error) => vec![error],
        None => KEYS.into_iter().filter_map(answered).collect(),
    }
}
