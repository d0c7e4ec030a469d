//! A decision as a Mermaid graph: service, runtime, classes, their nodes and flavors (OEP-0003,
//! Implementation Architecture).

use super::screen::{Page, line, printable};
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::decision::Verdict;
use crate::pipeline::Planned;

/// Number of rejected candidates to draw per decision.
const NEAREST: usize = 3;
/// Number of nodes to draw per class.
const NODES: usize = 8;

/// A graph under construction; boxes are numbered in the order of creation.
struct Graph {
    text: Page,
    boxes: usize,
}

impl Graph {
    // Labels are texts of the input, so boxes have numbers as names.
    fn new_box(&mut self, label: &str, chosen: bool) -> usize {
        let id = self.boxes;
        self.boxes += 1;
        line!(self.text, "  n{id}[\"{}\"]{}", quoted(label), if chosen { ":::chosen" } else { "" });
        id
    }

    fn arrow(&mut self, from: usize, to: usize, label: &str) {
        let label =
            if label.is_empty() { String::new() } else { format!("|\"{}\"|", quoted(label)) };
        line!(self.text, "  n{from} -->{label} n{to}");
    }

    /// An arrow to an object that was not selected.
    fn dotted(&mut self, from: usize, to: usize, label: &str) {
        line!(self.text, "  n{from} -.->|\"{}\"| n{to}", quoted(label));
    }
}

/// Escapes a text between quotes with the entities of Mermaid.
fn quoted(text: &str) -> String {
    // `#` first: the entities begin with it.
    printable(text)
        .replace('#', "#35;")
        .replace('"', "#quot;")
        .replace('<', "#lt;")
        .replace('>', "#gt;")
}

/// All services in one graph.
pub fn mermaid(planned: &[Planned<'_>], machines: &[Machine]) -> String {
    let mut graph = Graph { text: Page::default(), boxes: 0 };
    graph.text.push_str("flowchart LR\n");
    for planned in planned {
        service(&mut graph, planned, machines);
    }
    graph.text.push_str("  classDef chosen stroke-width:3px\n");
    graph.text.finish()
}

fn service(graph: &mut Graph, planned: &Planned<'_>, machines: &[Machine]) {
    let count = graph.new_box(&format!("InferenceService {}", planned.service), true);
    if let Some(model) = planned.resolution.model {
        let model_box =
            graph.new_box(&format!("{} {}", model.object.id.kind, model.object.id.name), true);
        graph.arrow(count, model_box, "model");
    }
    let decision = &planned.resolution.runtime;
    // Without a runtime, classes and errors hang from the service itself.
    let mut runtime = count;
    let mut rejected = 0;
    for candidate in &decision.candidates {
        let name = format!(
            "{} {}",
            candidate.runtime.object.id.kind,
            candidate.runtime.object.shown_name()
        );
        match candidate.verdict {
            Verdict::Chosen => {
                runtime = graph.new_box(&name, true);
                graph.arrow(
                    count,
                    runtime,
                    decision.decided_by.map_or("", super::phrases::decided_by),
                );
            }
            Verdict::Eligible => {
                let other = graph.new_box(&name, false);
                graph.dotted(count, other, "eligible");
            }
            // The nearest ones only: a graph of a whole catalog cannot be read.
            Verdict::Rejected if rejected < NEAREST => {
                rejected += 1;
                let other = graph.new_box(&name, false);
                graph.dotted(
                    count,
                    other,
                    candidate
                        .reasons
                        .first()
                        .map_or("rejected", |rejection| rejection.reason.code().as_str()),
                );
            }
            Verdict::Rejected => {}
        }
    }
    for decision in &planned.resolution.accelerators {
        let component = decision.component.as_str();
        let mut rejected = 0;
        for candidate in &decision.candidates {
            let name = format!("AcceleratorClass {}", candidate.name);
            match candidate.verdict {
                Verdict::Chosen => {
                    let class = graph.new_box(&name, true);
                    let by = decision.decided_by.map_or(String::new(), |by| {
                        format!(", {}", super::phrases::class_decided_by(by))
                    });
                    graph.arrow(runtime, class, &format!("{component}{by}"));
                    if let Some(found) = candidate.class {
                        below(graph, class, found, machines);
                    }
                }
                Verdict::Eligible => {
                    let class = graph.new_box(&name, false);
                    graph.dotted(runtime, class, &format!("{component}, eligible"));
                }
                Verdict::Rejected if rejected < NEAREST => {
                    rejected += 1;
                    let class = graph.new_box(&name, false);
                    let code =
                        candidate.reasons.first().map_or("rejected", |reason| reason.code.as_str());
                    graph.dotted(runtime, class, &format!("{component}, {code}"));
                }
                Verdict::Rejected => {}
            }
        }
    }
    if let Some(error) = &planned.error {
        let failed = graph.new_box(&format!("error {}", error.code.as_str()), false);
        graph.arrow(runtime, failed, "");
    }
}

/// The nodes of a class and its flavor.
fn below(
    graph: &mut Graph,
    class: usize,
    found: &crate::api::AcceleratorClass,
    machines: &[Machine],
) {
    let nodes = machines::matching(found, machines);
    for machine in nodes.iter().take(NODES) {
        let state = if machine.usable(&[], true) { "" } else { " (not usable)" };
        let node = graph.new_box(&format!("Node {}{state}", machine.name), false);
        graph.arrow(class, node, "");
    }
    if nodes.len() > NODES {
        let more = graph.new_box(&format!("{} more nodes", nodes.len() - NODES), false);
        graph.arrow(class, more, "");
    }
    let annotated = found
        .object
        .annotation("ome.io/kueue-resource-flavor")
        .and_then(crate::yaml::Node::scalar_text);
    if let Some(flavor) =
        found.kueue_flavor.as_ref().map(|flavor| flavor.value.clone()).or(annotated)
    {
        let flavor = graph.new_box(&format!("ResourceFlavor {flavor}"), false);
        graph.arrow(class, flavor, "");
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn labels_cannot_leave_their_quotes() {
        assert_eq!(quoted("a\"] --> n9[\"b\n\u{1b}"), "a#quot;] --#gt; n9[#quot;b\\n\\u{1b}");
    }
}
