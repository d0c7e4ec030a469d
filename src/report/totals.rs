//! The total requests of a plan: the table of classes, and the last sentence.

use super::cell::{Cell, Meaning, row};
use super::markdown;
use super::phrases::{at, first_of, plural};
use super::screen::{Page, put};
use super::table::{Style, table, wrapped};
use super::together;
use crate::pipeline::serving::PlannedServing;
use crate::pipeline::{ClassTotal, ClosedNodes, Planned, PlannedComponent, Together, Totals};
use ecow::EcoString;
use std::fmt::Write as _;

/// Requests for each class, and the resources of its nodes; empty if no class is requested.
pub fn classes(totals: &Totals, style: Style) -> String {
    let mut out = Page::default();
    if !totals.classes.is_empty() {
        let rows = totals.classes.iter().map(total);
        out.draw(&table(&["CLASS", "REQUESTED", "ALLOCATABLE", "IN USE", "FREE"], rows, style));
    // Without classes the devices themselves are counted.
    } else if !totals.resources.is_empty() {
        let rows = totals.resources.iter().map(total);
        out.draw(&table(&["RESOURCE", "REQUESTED", "ALLOCATABLE", "IN USE", "FREE"], rows, style));
    }
    if let Some(closed) = closed(totals) {
        out.end_line();
        out.draw(&wrapped(&closed, style.width, "  "));
    }
    out.finish()
}

/// The nodes that the column ALLOCATABLE leaves out, and why.
fn closed(totals: &Totals) -> Option<String> {
    let nodes = totals.closed.iter().map(|nodes| nodes.nodes).sum::<usize>();
    let why = |closed_nodes: &ClosedNodes| {
        // One reason has the number of all nodes, which the sentence begins with.
        let nodes = if totals.closed.len() == 1 {
            String::new()
        } else {
            format!("{} ", closed_nodes.nodes)
        };
        format!("{nodes}{} ({})", closed_nodes.why, plural(closed_nodes.devices, "device"))
    };
    let whys = first_of(totals.closed.iter().map(why), REASONS);
    (nodes > 0).then(|| format!("ALLOCATABLE leaves out {}: {whys}", plural(nodes, "node")))
}

/// For how many reasons nodes are listed that a table leaves out.
const REASONS: usize = 4;

/// [`classes`] in Markdown.
pub fn classes_markdown(totals: &Totals) -> String {
    let mut out = Page::default();
    if !totals.classes.is_empty() {
        let titles = ["class", "requested", "allocatable", "in use", "free"];
        markdown::table(&mut out, &titles, totals.classes.iter().map(total));
    } else if !totals.resources.is_empty() {
        let titles = ["resource", "requested", "allocatable", "in use", "free"];
        markdown::table(&mut out, &titles, totals.resources.iter().map(total));
    }
    if let Some(closed) = closed(totals) {
        put!(out, "\n{}\n", markdown::text(&closed));
    }
    out.finish()
}

fn total(total: &ClassTotal) -> Vec<Cell> {
    let number = |value: Option<i64>| Cell::or_none(value.map(|value| value.to_string()));
    row![
        total.name.to_string(),
        total.requested.to_string(),
        number(total.allocatable),
        number(total.in_use),
        number(total.left()),
    ]
}

/// What was asked and read.
#[derive(Clone, Copy, Debug)]
pub struct Read<'r> {
    /// All services are shown.
    pub whole: bool,
    /// A part of the input was not read.
    pub is_partly_read: bool,
    /// The command fails.
    pub fails: bool,
    /// A finding is an error.
    pub has_errors: bool,
    /// Warnings that touch the answer.
    pub warnings: usize,
    /// LLMInferenceServices that are counted without shipped configurations that they need.
    pub without_presets: usize,
    /// Plain workloads whose server does not start, and why.
    pub stopped: &'r [(EcoString, EcoString)],
}

/// The last sentence: how many services are planned and in error, their total requests, whether
/// they fit, and whether a part of the input was not read.
pub fn verdict(
    totals: &Totals,
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
    together: Option<&Together>,
    read: Read<'_>,
) -> Option<Cell> {
    let Read {
        whole, is_partly_read, fails, warnings, without_presets, stopped: workloads, ..
    } = read;
    let unknown = together.filter(|placement| !placement.not_judged.is_empty());
    let is_empty = planned.is_empty() && servings.is_empty() && totals.others.pods == 0;
    // Without services a sign stands for what went wrong, and confirms nothing.
    let is_clean = !(fails || is_partly_read || unknown.is_some() || warnings > 0);
    if is_empty && is_clean && workloads.is_empty() {
        return None;
    }
    // Other workloads are not among the services that were selected.
    let pending = together::pending(planned, servings, together.filter(|_| whole));
    let fits = match pending {
        // Without nodes nothing is said about room.
        _ if together.is_none() => String::new(),
        0 if unknown.is_some() => "; not everything was judged".to_owned(),
        0 if together.is_some_and(|placement| placement.pods.wanted == 0) => String::new(),
        0 => "; all pods fit the nodes".to_owned(),
        1 => "; 1 pod stays without a node".to_owned(),
        more => format!("; {more} pods stay without a node"),
    };
    let is_assumed = together.is_some_and(Together::hangs_on_assumption);
    let stopped = stopped(planned, workloads);
    let settings = unread_settings(planned);
    // A ✓ needs every part to be known: what is assumed or not judged takes it away.
    let meaning = match meaning(totals, pending, is_partly_read || fails) {
        Meaning::Good
            if unknown.is_some()
                || is_assumed
                || warnings > 0
                // What the shipped configurations add to the pods is not known.
                || without_presets > 0
                || !(stopped.is_empty() && settings.is_empty()) =>
        {
            Meaning::Attention
        }
        meaning => meaning,
    };
    let warned = match (meaning, warnings) {
        (Meaning::Attention, 1..) => format!("; {}", plural(warnings, "warning")),
        _ => String::new(),
    };
    let summary = match summary(totals) {
        // They may be in the part that was not read.
        None if is_partly_read => "no service was read".to_owned(),
        None => "no services".to_owned(),
        Some(summary) => summary,
    };
    let presets = match without_presets {
        0 => String::new(),
        1 => "; 1 counted without its presets".to_owned(),
        many => format!("; {many} counted without their presets"),
    };
    // A service in error, a pod without a node or an unread part is the reason of the sign already.
    let is_explained = totals.failed > 0 || pending > 0 || is_partly_read;
    let errors = if read.has_errors && !is_explained { "; the input has errors" } else { "" };
    let unread = unread(is_partly_read);
    Some(Cell::marked(
        meaning,
        format_args!("{summary}{fits}{errors}{unread}{stopped}{settings}{presets}{warned}"),
    ))
}

/// The services and plain workloads whose server does not start, with the reason of the first.
pub(super) fn stopped(planned: &[Planned<'_>], workloads: &[(EcoString, EcoString)]) -> String {
    let of_services = services_with(planned, |component| component.stopped.as_ref());
    let services = of_services.as_ref().map_or(0, |(.., all)| *all);
    let first = of_services.map(|(first, reason, _)| (first, reason.as_str()));
    // Services come first; a workload is named only where no service is in the way.
    let first = first.or_else(|| {
        let (first, reason) = workloads.first()?;
        Some((first.to_string(), reason.as_str()))
    });
    match (first, services + workloads.len()) {
        (None, _) => String::new(),
        (Some((first, reason)), 1) => {
            format!("; the server of {first} will not start: {reason}")
        }
        (Some((first, reason)), all) => {
            format!("; {all} servers will not start, {first} first: {reason}")
        }
    }
}

/// The services whose engines read settings from files that are not in the input.
fn unread_settings(planned: &[Planned<'_>]) -> String {
    match services_with(planned, |component| component.unread_settings.as_ref()) {
        None => String::new(),
        Some((first, path, 1)) => format!("; not judged: settings of {first} in {path}"),
        Some((first, path, all)) => {
            format!("; not judged: settings of {all} services, {first} first in {path}")
        }
    }
}

/// The first service that is in no error and has a component of which something is known, what that
/// is, and how many such services there are.
fn services_with<'p, T>(
    planned: &'p [Planned<'_>],
    is_known: impl Fn(&'p PlannedComponent) -> Option<&'p T>,
) -> Option<(String, &'p T, usize)> {
    let in_order = planned.iter().filter(|planned| planned.error.is_none());
    let mut found = in_order.filter_map(|planned| {
        Some((&planned.service, planned.components.iter().find_map(&is_known)?))
    });
    let (first, existing) = found.next()?;
    Some((first.to_string(), existing, 1 + found.count()))
}

/// The meaning of a plan: whether the command fails, any pod is pending, or a part of the input was
/// not read; `!` where a part of the answer is not known, or services that do not make the command
/// fail are in error.
fn meaning(totals: &Totals, pending: usize, fails: bool) -> Meaning {
    let open = totals.unplanned + totals.components_not_counted + totals.servings_not_counted;
    if pending > 0 || fails {
        Meaning::Bad
    } else if totals.failed + open > 0 {
        Meaning::Attention
    } else {
        Meaning::Good
    }
}

/// The end of the last sentence.
fn unread(is_partly_read: bool) -> &'static str {
    if is_partly_read { "; a part of the input was not read" } else { "" }
}

/// "3 services, 1 in error; 4 pods and 8 GPUs at minReplicas"; `None` if there is nothing to count.
fn summary(totals: &Totals) -> Option<String> {
    let others = format!(
        "{} and {} of other workloads",
        plural(totals.others.pods, "pod"),
        plural(totals.others.gpus, "GPU")
    );
    let planned = match (totals.services, totals.servings) {
        // A dump without services is summed up by its workloads.
        (0, 0) if totals.others.pods > 0 => return Some(others),
        (0, 0) if totals.unplanned == 0 => return None,
        (0, servings) if servings > 0 => plural(servings, "ModelServing"),
        (services, 0) => plural(services, "service"),
        (services, servings) => {
            format!("{}, {}", plural(services, "service"), plural(servings, "ModelServing"))
        }
    };
    let failed = match totals.unplanned {
        0 => String::new(),
        some => format!(", {some} not planned"),
    };
    let failed = failed
        + &match totals.failed + totals.servings_failed {
            0 => String::new(),
            some => format!(", {some} in error"),
        };
    let mut more_fields = String::new();
    for (number, word) in [
        (totals.components_not_counted, "component"),
        (totals.servings_not_counted, "ModelServing"),
    ] {
        if number > 0 {
            let _ = write!(more_fields, ", {} not counted", plural(number, word));
        }
    }
    if totals.others.pods > 0 {
        let _ = write!(more_fields, "; beside them {others}");
    }
    Some(format!(
        "{planned}{failed}; {} and {} {}{more_fields}",
        plural(totals.pods, "pod"),
        plural(totals.gpus.values().sum::<i64>(), "GPU"),
        at(totals.at)
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome};

    /// The last line of a plan.
    fn last(input: &str) -> String {
        ome("plan", input).out.lines().last().unwrap_or_default().to_owned()
    }

    #[test]
    fn what_went_wrong_without_services_has_a_sign() {
        let broken = "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: x\n";
        let line = last(broken);
        assert_eq!(line, "✗ no service was read; a part of the input was not read");
        let node = gpu_node("n", 8, "");
        assert_eq!(last(&format!("{node}{broken}")), line);
        // Devices of a kind that is not counted.
        let unknown = "---\napiVersion: example.com/v1\nkind: Trainer\nmetadata: {name: t, namespace: ml}\nspec: {template: {spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n";
        let line = last(&format!("{node}{unknown}"));
        assert!(line.starts_with("! no services; not everything was judged"), "{line}");
        // Nothing is confirmed of nothing.
        let line = last(&node);
        assert!(!line.contains(['✓', '!', '✗']), "{line}");
    }
    /// An error of the input is the reason of the sign where no service is in error.
    #[test]
    fn errors_of_the_input_are_the_reason_of_a_sign() {
        let deployment = |field: &str| {
            format!(
                "{}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d, namespace: ml}}\nspec: {{{field}: 1, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}\n",
                gpu_node("n1", 8, "")
            )
        };
        let line = last(&deployment("replicas"));
        assert!(line.starts_with('✓') && line.ends_with("; all pods fit the nodes"), "{line}");
        let line = last(&deployment("replica"));
        assert!(line.starts_with('✗') && line.ends_with("; the input has errors"), "{line}");
    }
}
