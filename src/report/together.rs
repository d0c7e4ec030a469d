//! The placement of the whole fleet on its nodes: JSON, and the sentences below the table
//! (docs/together.md).

use super::cell::{Cell, row};
use super::doubts;
use super::phrases::{self, first_of, plural};
use super::screen::{Page, line, put};
use super::sheet::Sheet;
use crate::cluster::BlockedNodes;
use crate::cluster::fleet::{Packing, Verdict};
use crate::pipeline::serving::PlannedServing;
use crate::pipeline::{
    At, Costs, HalfGroup, MoreNodes, NotJudged, OwnerName, Pending, Placement, Planned,
    PlannedComponent, RemedyFound, Together, Waiting, advice,
};
use ecow::{EcoString, eco_format};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Number of nodes to list one by one; the others are counted by code.
pub(super) const LISTED: usize = 10;
/// Number of services to name in a sentence.
const NAMED: usize = 3;

/// How many pods of the shown services and ModelServings have no node; with those of other workloads
/// if the `whole` fleet is shown.
pub fn pending(
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
    whole: Option<&Together>,
) -> usize {
    let shown: usize =
        placements(planned, servings).map(|(_, placement)| placement.pending()).sum();
    shown + whole.map_or(0, |placement| placement.others.pending)
}

/// The placements of all shown services and ModelServings, with their names.
fn placements<'a>(
    planned: &'a [Planned<'_>],
    servings: &'a [PlannedServing<'_>],
) -> impl Iterator<Item = (EcoString, &'a Placement)> {
    let of_services = planned.iter().flat_map(|planned| {
        let components =
            planned.components.iter().filter_map(|component| component.placement.as_ref());
        components.map(|placement| (eco_format!("{}", planned.service), placement))
    });
    of_services.chain(servings.iter().filter_map(|planned| {
        let name = name(&planned.serving.namespace, planned.serving.name());
        Some((name, planned.placement.as_ref()?))
    }))
}

fn name(namespace: &EcoString, name: &EcoString) -> EcoString {
    eco_format!("{namespace}/{name}")
}

fn packing(packing: Packing) -> Value {
    json!({
        "order": if packing.largest_first { "largest-first" } else { "as-placed" },
        "packed": packing.packed,
        "moves": packing.moves,
        "searched": packing.searched,
        "advice": advice(packing),
    })
}

/// Services in error as what is not judged: text shows their errors.
fn in_error(services: usize) -> Option<NotJudged> {
    (services > 0).then(|| NotJudged {
        what: "services in error".into(),
        pods: None,
        message: eco_format!("{} in error: no pods of them are placed", are(services)),
        ..NotJudged::default()
    })
}

fn are(services: usize) -> String {
    format!("{} {}", plural(services, "service"), if services == 1 { "is" } else { "are" })
}

/// `placement` at the root of the document.
pub(super) fn json(together: &Together) -> Value {
    let pods = together.pods;
    let mut out = json!({
        "verdict": together.verdict_word(),
        "nodes": together.nodes,
        "order": "priority, running before new, namespace/name",
        "pods": { "running": pods.running, "own": pods.of_services, "wanted": pods.wanted, "placed": pods.placed, "pending": pods.pending },
        "pending": together
            .pending
            .iter()
            .map(pending_json)
            .collect::<Vec<_>>(),
        "add": together
            .add
            .iter()
            .map(|more| json!({ "class": more.class.as_ref().map(EcoString::as_str), "nodes": more.nodes, "like": more.like.as_str() }))
            .collect::<Vec<_>>(),
    });
    match together.verdict {
        Verdict::IfPacked(found) => out["packing"] = packing(found),
        Verdict::DoesNotFit { proven } => out["proven"] = proven.into(),
        Verdict::Fits => {}
    }
    if together.hangs_on_ties {
        out["hangsOnTies"] = true.into();
    }
    if !together.remedies.is_empty() {
        out["remedies"] = together.remedies.iter().map(remedy).collect();
    }
    if !together.not_judged.is_empty() || together.in_error > 0 {
        let mut all = together.not_judged.clone();
        all.extend(in_error(together.in_error));
        out["notJudged"] = doubts::not_judged_json(&all);
    }
    // Absent keys say that nothing of the kind concerns this fleet.
    if !together.order_matters.is_empty() {
        out["orderMatters"] = together.order_matters.iter().map(EcoString::as_str).collect();
    }
    if let Some(tried) = together.order_tried {
        out["orderTried"] = tried.into();
    }
    if !together.assumed.is_empty() {
        out["assumed"] = doubts::assumed_json(&together.assumed);
    }
    if !together.half_groups.is_empty() {
        out["halfGroups"] = together
            .half_groups
            .iter()
            .map(|half| json!({ "service": half.service.as_str(), "component": half.component.as_str(), "replica": half.replica, "placed": half.placed, "pods": half.pods }))
            .collect();
    }
    if let Some(loss) = &together.loss {
        out["without"] = super::losses::loss_json(loss);
    }
    if !together.victims.is_empty() {
        out["victims"] = together
            .victims
            .iter()
            .map(|victim| json!({ "pod": victim.pod.as_str(), "node": victim.node.as_str(), "for": victim.cause.as_str() }))
            .collect();
    }
    out
}

/// A remedy.
fn remedy(found: &RemedyFound) -> Value {
    let mut out = json!({ "kind": found.kind, "edits": [found.edit.as_str()], "fits": found.pending == 0, "pending": found.pending });
    let names = |all: &[EcoString]| json!(all.iter().map(EcoString::as_str).collect::<Vec<_>>());
    if !found.nodes.is_empty() {
        out["nodes"] = names(&found.nodes);
    }
    if !found.services.is_empty() {
        out["services"] = names(&found.services);
    }
    if !found.moves.is_empty() {
        let one = |[pod, from, to]: &[EcoString; 3]| json!({ "pod": pod.as_str(), "from": from.as_str(), "to": to.as_str() });
        out["moves"] = found.moves.iter().map(one).collect();
    }
    out
}

/// The remedies that no other sentence names, one line each.
fn remedies_into(together: &Together, out: &mut Page) {
    // Both have a sentence of their own below the table.
    let is_named = |found: &&RemedyFound| match found.kind {
        "add-nodes" => !together.add.is_empty(),
        "pack" => matches!(together.verdict, Verdict::IfPacked(_)),
        _ => false,
    };
    for found in together.remedies.iter().filter(|remedy| !is_named(remedy)) {
        let then = match found.pending {
            0 => "everything fits".to_owned(),
            1 => "1 pod still waits".to_owned(),
            more => format!("{more} pods still wait"),
        };
        line!(out, "{}: then {then}", found.edit);
    }
}

/// The tolerations that nothing in the input shows, one line for each resource.
fn assumed_into(together: &Together, out: &mut Page) {
    for assumed in doubts::assumed(&together.assumed) {
        line!(out, "{assumed}");
    }
}

fn victims_into(together: &Together, out: &mut Page) {
    for victim in &together.victims {
        line!(
            out,
            "{} evicts {} from {}: its priority is lower",
            victim.cause,
            victim.pod,
            victim.node
        );
    }
}

/// Below the page of one service: what is assumed of its pods, and where some are pending, who evicts
/// pods and what would give them a node.
pub fn below(together: &Together, is_short: bool) -> String {
    let mut out = Page::default();
    // Assumptions hold for pods that fit, too; what evicts and helps is for those that do not.
    if !is_short {
        assumed_into(together, &mut out);
        return out.finish();
    }
    victims_into(together, &mut out);
    assumed_into(together, &mut out);
    remedies_into(together, &mut out);
    if !together.add.is_empty() {
        line!(out, "{} would hold everything", nodes(&together.add));
    }
    out.finish()
}

/// A pending replica. A workload without an operator has its kind before its name.
fn pending_json(one: &Pending) -> Value {
    let mut out = json!({ "service": one.service.as_str(), "component": one.component.as_str(), "replica": one.replica, "code": one.code, "message": one.message.as_str() });
    if OwnerName::of(&one.service).kind.is_some() {
        out["workload"] = one.service.as_str().into();
    }
    out
}

/// `placement` of a component.
pub(super) fn of_component(placement: &Placement) -> Value {
    let mut out = json!({
        "wanted": placement.wanted,
        "running": placement.running,
        "placed": placement.placed,
        "pending": placement.pending(),
        "nodes": placement.nodes.iter().map(|(node, pods)| json!({ "node": node.as_str(), "pods": pods })).collect::<Vec<_>>(),
    });
    if let Some(why) = placement.not_judged() {
        out["notJudged"] = why.as_str().into();
    }
    if let Some(waiting) = &placement.waiting {
        let counts: Map<String, Value> = waiting
            .blocked
            .counts()
            .iter()
            .map(|(code, nodes)| ((*code).into(), (*nodes).into()))
            .collect();
        out["reason"] = json!({
            "code": waiting.code,
            "message": waiting.message.as_str(),
            "counts": counts,
            "example": waiting.example.as_ref().map(|example| json!({ "node": example.node.as_str(), "code": example.code, "detail": example.detail.as_str() })),
        });
    }
    if let Some(look) = &placement.look {
        let filters = look.filters.iter();
        out["filters"] = filters
            .map(|filtered| json!({ "filter": filtered.filter, "in": filtered.r#in, "out": filtered.out }))
            .collect();
        let nearest = look.nearest.iter();
        out["nearest"] = nearest
            .map(|example| json!({ "node": example.node.as_str(), "code": example.code, "detail": example.detail.as_str() }))
            .collect();
    }
    out
}

/// `1 of 2 pods on gpu-1; one more fits on 1 of 3 nodes: NodeAffinity rejects 2`.
pub(super) fn placed(component: &PlannedComponent) -> Option<String> {
    let placement = component.placement.as_ref()?;
    // Only `explain` looks at each filter, and only its page has this line.
    let look = placement.look.as_ref()?;
    if let Some(why) = placement.unjudged.as_ref().filter(|_| placement.pending() == 0) {
        return Some(format!("not judged: {why}"));
    }
    let on: Vec<String> = placement
        .nodes
        .iter()
        .take(LISTED)
        .map(|(node, pods)| if *pods == 1 { node.to_string() } else { format!("{node} ({pods})") })
        .collect();
    let more = match placement.nodes.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {}", plural(more, "more node")),
    };
    let on = if on.is_empty() { String::new() } else { format!(" on {}{more}", on.join(", ")) };
    let stay = match placement.running {
        0 => String::new(),
        running => format!(", {running} of them where they run"),
    };
    let (first, last) = (look.filters.first()?, look.filters.last()?);
    let nodes = plural(first.r#in, "node");
    let would = match (placement.more, last.out) {
        _ if placement.by_quota => {
            let more = if placement.more == 0 { "no".into() } else { placement.more.to_string() };
            let (placed, wanted) = (placement.placed, plural(placement.wanted, "pod"));
            return Some(format!("{placed} of {wanted}{on}{stay}; {more} more would get quota"));
        }
        (0, 0) => "no more would fit".to_owned(),
        // What refuses these pods does not ask nodes.
        (0, out) if placement.pending() > 0 => format!("{out} of {nodes} would take one"),
        (0, out) => format!("no more would fit on {out} of {nodes}"),
        (more, 0) => format!("{more} more would fit"),
        (more, out) => format!("{more} more would fit on {out} of {nodes}"),
    };
    // Filters that reject no node are not worth a word.
    let refuse = look.filters.iter().filter(|filtered| filtered.out < filtered.r#in);
    let refuse: Vec<String> = refuse
        .map(|filtered| format!("{} rejects {}", filtered.filter, filtered.r#in - filtered.out))
        .collect();
    let refuse = if refuse.is_empty() { String::new() } else { format!(": {}", refuse.join(", ")) };
    Some(format!(
        "{} of {}{on}{stay}; {would}{refuse}",
        placement.placed,
        plural(placement.wanted, "pod"),
    ))
}

/// Why a pod of a component waits: the scheduler's message, each filter with its number of nodes,
/// and the nodes that are closest to a match.
pub(super) fn look(component: &PlannedComponent, out: &mut Sheet) {
    let Some(placement) = component.placement.as_ref() else { return };
    let (Some(look), Some(waiting)) = (placement.look.as_ref(), placement.waiting.as_ref()) else {
        return;
    };
    // A quota refuses the pod before any filter sees it.
    let is_filtered = look.filters.iter().any(|filtered| filtered.out < filtered.r#in);
    // Filters behind the last node have nothing to filter.
    let rows = look.filters.iter().filter(|filtered| filtered.r#in > 0).map(|filtered| {
        let lost = filtered.r#in - filtered.out;
        let lost = if lost == 0 { String::new() } else { format!("-{lost}") };
        row![filtered.filter, filtered.r#in.to_string(), filtered.out.to_string(), lost]
    });
    if !is_filtered && look.nearest.is_empty() {
        return;
    }
    out.gap();
    out.lines([waiting.message.to_string()]);
    let title = format!("FILTER ({})", component.kind.as_str().to_uppercase());
    if is_filtered {
        out.table(&[&title, "IN", "OUT", ""], rows);
    }
    if !look.nearest.is_empty() {
        let rows = look.nearest.iter().map(|example| {
            row![example.node.to_string(), example.code, example.detail.to_string()]
        });
        out.table(&["NEAREST NODE", "RULE", "WHAT IS MISSING"], rows);
    }
}

/// The nodes without room for the main pod, if a pod of the component waits.
pub(super) fn blocked(component: &PlannedComponent) -> Option<&BlockedNodes> {
    let waiting = component.placement.as_ref()?.waiting.as_ref()?;
    Some(&*waiting.blocked)
}

/// So many nodes by name; the others are counted by code.
pub(super) fn blocked_json(blocked: Option<&BlockedNodes>, named: usize) -> Value {
    let Some(blocked) = blocked else { return json!([]) };
    // At most as many as are there.
    let listed = &blocked.first()[..blocked.first().len().min(named)];
    let mut counts = blocked.counts().clone();
    for one in listed {
        // Nodes with a name are not counted once more.
        *counts.entry(one.code).or_default() -= 1;
    }
    counts.retain(|_, nodes| *nodes > 0);
    let listed = listed.iter().map(
        |one| json!({ "node": one.node.as_str(), "code": one.code, "detail": one.detail.as_str() }),
    );
    let counts = counts.into_iter().map(|(code, nodes)| json!({ "code": code, "nodes": nodes }));
    listed.chain(counts).collect()
}

/// What a waiting pod lacks, in brackets: the reason of the nearest node.
fn shortage(waiting: Option<&Waiting>) -> String {
    waiting.map_or_else(String::new, |waiting| format!(" ({})", waiting.shortage()))
}

/// `1 more node like gpu-3 and 2 more nodes like cpu-1`.
fn nodes(add: &[MoreNodes]) -> String {
    let more = |more: &MoreNodes| {
        let class = more.class.as_ref().map_or(String::new(), |class| format!(" ({class})"));
        format!("{} like {}{class}", plural(more.nodes, "more node"), more.like)
    };
    add.iter().map(more).collect::<Vec<_>>().join(" and ")
}

/// `$50 an hour at minReplicas: $40 nvidia-h100, $10 nvidia-l40s`.
pub fn price(costs: &Costs, at: At) -> String {
    let classes: Vec<String> =
        costs.by_class.iter().map(|(class, cost)| format!("{cost} {class}")).collect();
    let detail =
        if classes.len() > 1 { format!(": {}", classes.join(", ")) } else { String::new() };
    let mut out = Page::default();
    line!(out, "{} an hour {}{detail}", costs.per_hour, phrases::at(at));
    out.finish()
}

/// The placement of a fleet on its nodes as text; empty if everything fits and no pod is evicted.
pub fn text(
    together: &Together,
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
) -> String {
    let mut out = Page::default();
    victims_into(together, &mut out);
    assumed_into(together, &mut out);
    // An order that was tried is told only where it matters.
    if !together.order_matters.is_empty() {
        let names = first_of(together.order_matters.iter(), NAMED);
        line!(out, "fits in this order; {names} must not come last");
    } else if together.order_tried == Some(0) {
        line!(out, "fits in this order; no other order was tried");
    }
    let shown: HashSet<EcoString> = planned
        .iter()
        .map(|planned| eco_format!("{}", planned.service))
        .chain(
            servings.iter().map(|serving| name(&serving.serving.namespace, serving.serving.name())),
        )
        .collect();
    // A service may wait with several components, and is named once.
    let mut seen = HashSet::new();
    let waiting = together
        .pending
        .iter()
        .map(|pending| &pending.service)
        .filter(|pending| seen.insert(*pending));
    let (workloads, waiting): (Vec<&EcoString>, Vec<&EcoString>) =
        waiting.partition(|waiting| OwnerName::of(waiting).kind.is_some());
    workloads_into(together, &workloads, &mut out);
    not_judged_into(together, &mut out);
    let waiting = waiting.into_iter();
    let (short, others): (Vec<&EcoString>, Vec<&EcoString>) =
        waiting.partition(|waiting| shown.contains(*waiting));
    if short.is_empty() {
        if !workloads.is_empty() {
            remedies_into(together, &mut out);
            if !together.add.is_empty() {
                line!(out, "{} would hold everything", nodes(&together.add));
            }
        }
        not_shown(&mut out, &others);
        if together.hangs_on_ties {
            out.push_str(TIES);
        }
        return out.finish();
    }
    short_into(together, (planned, servings), &short, others.is_empty(), &mut out);
    remedies_into(together, &mut out);
    not_shown(&mut out, &others);
    if let Some(half) = half_groups(&together.half_groups) {
        line!(out, "{half}");
    }
    if together.hangs_on_ties {
        out.push_str(TIES);
    }
    out.finish()
}

/// The workloads of no operator whose pods wait.
fn workloads_into(together: &Together, workloads: &[&EcoString], out: &mut Page) {
    for name in workloads.iter().take(NAMED) {
        let rows: Vec<&Pending> =
            together.pending.iter().filter(|pending| pending.service == **name).collect();
        let pods = plural(rows.iter().map(|row| row.pods).sum::<usize>(), "pod");
        // A template that is invalid has no pods, so that none waits.
        if rows[0].code == "invalid" {
            line!(out, "{name}: no pods: {}", rows[0].message);
            continue;
        }
        let why = &rows[0].short;
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        line!(out, "{name}: {pods} without a node{why}");
    }
    if workloads.len() > NAMED {
        let more = plural(workloads.len() - NAMED, "more workload");
        line!(out, "{more} with pods without a node");
    }
}

fn not_judged_into(together: &Together, out: &mut Page) {
    for judged in doubts::lines(&together.not_judged, NAMED) {
        line!(out, "{judged}");
    }
}

/// The shown services whose pods wait, what they lack, and what would hold them.
fn short_into(
    together: &Together,
    (planned, servings): (&[Planned<'_>], &[PlannedServing<'_>]),
    short: &[&EcoString],
    is_all: bool,
    out: &mut Page,
) {
    let reasons: HashMap<EcoString, &Waiting> = placements(planned, servings)
        .filter_map(|(name, placement)| Some((name, placement.waiting.as_deref()?)))
        .collect();
    let named = short
        .iter()
        .map(|service| format!("{service}{}", shortage(reasons.get(*service).copied())));
    let named = first_of(named, NAMED);
    let all = planned.len() + servings.len();
    let verb = if short.len() == 1 { "does" } else { "do" };
    put!(out, "{} of {} {verb} not fit: {named}", short.len(), plural(all, "service"));
    match together.verdict {
        Verdict::IfPacked(packing) => {
            put!(out, "; everything fits if you {}", advice(packing));
        }
        Verdict::DoesNotFit { proven: false } => out.push_str("; no placement of all was found"),
        // A proven answer needs no reservation.
        Verdict::DoesNotFit { proven: true } | Verdict::Fits => {}
    }
    if !together.add.is_empty() {
        let waits = match short.len() {
            // Nodes would help those that are not shown as well.
            _ if !is_all => "everything",
            1 => "it",
            _ => "them",
        };
        put!(out, "; {} would hold {waits}", nodes(&together.add));
    }
    out.end_line();
}

/// The waiting services that are not shown.
fn not_shown(out: &mut Page, others: &[&EcoString]) {
    match others {
        [] => {}
        [only] => line!(out, "not shown: {only} does not fit"),
        [first, rest @ ..] => {
            line!(out, "not shown: {first} and {} do not fit", plural(rest.len(), "more service"));
        }
    }
}

/// The effect of kube-scheduler on groups, which the plan places as a whole.
fn half_groups(half: &[HalfGroup]) -> Option<String> {
    let first = half.first()?;
    let more = match half.len() {
        1 => String::new(),
        count => format!(" and of {} more", plural(count - 1, "group")),
    };
    Some(format!(
        "kube-scheduler places no groups: it would leave {} of {} pods of group {} of {}{more} on nodes that they hold for nothing",
        first.placed, first.pods, first.replica, first.service
    ))
}

const TIES: &str =
    "whether everything fits depends on which of several equally good nodes the scheduler takes\n";

const SCALED_TO_ZERO: &str = "scaled to zero";

/// The same behind other facts.
pub(super) fn behind(component: &PlannedComponent) -> Option<String> {
    Some(match cell(component)?.text {
        cell if cell == SCALED_TO_ZERO => format!(", {cell}"),
        cell => format!(", fits: {cell}"),
    })
}

/// The cell of a component: how many of its pods have a node.
pub(super) fn cell(component: &PlannedComponent) -> Option<Cell> {
    let placement = component.placement.as_ref()?;
    if placement.wanted == 0 {
        // Nothing was placed, so nothing is confirmed.
        return Some(SCALED_TO_ZERO.into());
    }
    let placed = format!("{} of {}", placement.placed, placement.wanted);
    Some(match component.fits() {
        // What could not be judged has neither sign.
        None => "?".into(),
        // They have a node, and may not start there.
        Some(true) if placement.open.is_some() => Cell::warn(placed),
        Some(true) => Cell::good(placed),
        Some(false) => Cell::bad(placed),
    })
}

/// Why pods of a component have no node.
pub(super) fn why_waiting(component: &PlannedComponent) -> Option<&str> {
    let waiting = component.placement.as_ref()?.waiting.as_ref()?;
    Some(waiting.message.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::NodeRejection;

    #[test]
    fn nodes_that_are_not_named_are_counted_by_code() {
        let nodes = (0..12).map(|at| NodeRejection {
            node: eco_format!("n{at}"),
            code: if at == 3 { "cpu" } else { "gpu" },
            detail: "x".into(),
        });
        let blocked = BlockedNodes::new(nodes);
        let counted = |named| {
            let all = blocked_json(Some(&blocked), named);
            let all = all.as_array().cloned().unwrap_or_default();
            let named = all.iter().filter(|value| value.get("node").is_some()).count();
            (named, all[named..].to_vec())
        };
        assert_eq!(counted(LISTED), (10, vec![json!({ "code": "gpu", "nodes": 2 })]));
        let all = [json!({ "code": "cpu", "nodes": 1 }), json!({ "code": "gpu", "nodes": 11 })];
        assert_eq!(counted(0), (0, all.to_vec()));
    }
}
