//! What becomes of each object of the input, as JSON and as one line.

use crate::source::SourceMap;
use crate::workspace::accounting::{self, Handling, InputRow, NAMED, names};
use ecow::EcoString;
use serde_json::{Map, Value, json};

/// The rows of JSON.
pub fn json(rows: &[InputRow], sources: &SourceMap) -> Value {
    rows.iter().map(|row| of_row(row, sources)).collect()
}

fn of_row(row: &InputRow, sources: &SourceMap) -> Value {
    let mut out = json!({
        "kind": row.kind.as_str(),
        "count": row.count,
        "handling": row.handling.as_str(),
    });
    // Fields that have no value are left out: the row of all other kinds has neither.
    if !row.api_version.is_empty() {
        out["apiVersion"] = row.api_version.as_str().into();
    }
    if !row.devices.is_empty() {
        let devices = row.devices.iter().map(|(name, count)| (name.to_string(), (*count).into()));
        out["devices"] = devices.collect::<Map<_, Value>>().into();
    }
    if !row.examples.is_empty() {
        out["examples"] = row
            .examples
            .iter()
            .map(|example| {
                let place = sources.locate(example.span);
                json!({
                    "namespace": example.namespace.as_ref().map(EcoString::as_str),
                    "name": example.name.as_str(),
                    "file": &*place.file,
                    "line": place.line,
                })
            })
            .collect();
    }
    out
}

/// What a comparison leaves out, in one line; `None` if that is nothing. Of the base these are kinds of
/// which it has more.
pub fn not_compared(rows: &[InputRow], base: &[InputRow]) -> Option<String> {
    let left_out = |rows: &[InputRow]| {
        by_kind(rows.iter().filter(|row| {
            row.is_passed_over() || row.requests_uncounted_devices() || row.is_operated()
        }))
    };
    let kept = left_out(rows);
    let of_base = left_out(base).into_iter().filter(|row| {
        let is_like = |other: &&InputRow| {
            other.kind == row.kind && other.foreign_group() == row.foreign_group()
        };
        kept.iter().find(is_like).is_none_or(|other| other.count < row.count)
    });
    let of_base: Vec<String> = of_base.map(|row| format!("{} in the base", names(&row))).collect();
    let left_out: Vec<String> = kept.iter().map(names).chain(of_base).collect();
    (!left_out.is_empty()).then(|| format!("not compared: {}", left_out.join(", ")))
}

/// Up to how many kinds the objects of each are named.
const WITH_NAMES: usize = 8;

/// How many kinds that nothing reads are named.
const OTHERS: usize = 5;

/// The kinds of an input, in one line; `None` if it has no object.
pub fn kinds(rows: &[InputRow]) -> Option<String> {
    let (others, rows): (Vec<&InputRow>, Vec<&InputRow>) =
        rows.iter().filter(|row| !row.is_passed_over()).partition(|row| row.kind == "*");
    // Of many kinds each is only counted.
    let mut rows = by_kind(rows.into_iter());
    let is_short = rows.len() <= WITH_NAMES;
    let count = |row: &InputRow| format!("{} {}", row.count, row.kind);
    let named = |row: &InputRow| if is_short { names(row) } else { count(row) };
    let mut others: Vec<(&EcoString, &usize)> =
        others.into_iter().flat_map(|row| &row.kinds).collect();
    others.retain(|(kind, count)| {
        // A kind may be read in one group and foreign in another: it is named once.
        let same = rows.iter_mut().find(|row| row.kind == **kind);
        same.map(|row| row.count += **count).is_none()
    });
    let mut kinds: Vec<String> = rows.iter().map(named).collect();
    // The sort keeps the order of names among equal counts.
    others.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let shown = others.iter().take(OTHERS).map(|(kind, count)| format!("{count} {kind}"));
    kinds.extend(shown);
    if others.len() > OTHERS {
        let more = others.len() - OTHERS;
        kinds.push(format!("{more} more {}", if more == 1 { "kind" } else { "kinds" }));
    }
    (!kinds.is_empty()).then(|| format!("the input has {}", kinds.join(", ")))
}

/// One row for each kind: several groups and versions of a kind are not told apart where only the
/// kind is shown.
fn by_kind<'r>(rows: impl Iterator<Item = &'r InputRow>) -> Vec<InputRow> {
    let mut merged: Vec<InputRow> = Vec::new();
    for row in rows {
        // The group tells two kinds apart only where it is shown.
        let is_alike = |input_row: &&mut InputRow| {
            input_row.kind == row.kind && input_row.foreign_group() == row.foreign_group()
        };
        let Some(input_row) = merged.iter_mut().find(is_alike) else {
            merged.push(row.clone());
            continue;
        };
        input_row.count += row.count;
        input_row.requesting += row.requesting;
        let room = NAMED.saturating_sub(input_row.examples.len());
        input_row.examples.extend(row.examples.iter().take(room).cloned());
        accounting::add(&mut input_row.devices, row.devices.clone());
    }
    merged
}

/// What is not planned and what is not counted, in one line; `None` if that is nothing. Workloads are
/// counted where there are nodes to place them on.
pub fn line(rows: &[InputRow], has_nodes: bool) -> Option<String> {
    let (passed, others): (Vec<&InputRow>, Vec<&InputRow>) =
        rows.iter().partition(|row| row.is_passed_over());
    let passed: Vec<String> = by_kind(passed.into_iter()).iter().map(names).collect();
    // Pods of planned services are counted with their services.
    let operated = by_kind(others.iter().copied().filter(|row| row.is_operated()));
    let uncounted = others.into_iter().filter(|row| row.requests_uncounted_devices());
    let mut uncounted = requests(uncounted);
    uncounted.extend(operated.iter().map(names));
    let is_unplaced =
        |row: &&InputRow| row.handling == Handling::Workload && !row.devices.is_empty();
    let unplaced = requests(rows.iter().filter(|row| !has_nodes && is_unplaced(row)));
    let parts = [
        ("not planned", passed),
        ("not counted", uncounted),
        ("not counted without nodes", unplaced),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}", names.join(", ")))
        .collect();
    let is_older = |row: &InputRow| row.is_passed_over() && row.is_older();
    let convert = if rows.iter().any(is_older) {
        " · `ome convert` writes services of serving.kubeflow.org as serving.kserve.io/v1beta1"
    } else {
        ""
    };
    (!parts.is_empty()).then(|| format!("{}{convert}", parts.join(" · ")))
}

/// The kinds of rows with the devices that they request.
fn requests<'r>(rows: impl Iterator<Item = &'r InputRow>) -> Vec<String> {
    let of_kind = |row: &InputRow| {
        let count = accounting::count_requesting(row);
        format!("{count} (requests {})", accounting::requested(row))
    };
    by_kind(rows).iter().map(of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gpu_node, ome_on};

    #[test]
    fn what_only_the_base_has_is_not_compared_either() {
        let graph = "---\napiVersion: serving.kserve.io/v1alpha1\nkind: InferenceGraph\nmetadata: {name: g, namespace: ml}\nspec: {nodes: {root: {routerType: Sequence, steps: [{serviceUrl: 'http://a'}]}}}\n";
        let node = gpu_node("n1", 8, "");
        let both = node.clone() + graph;
        let line = |before: &str, after: &str| {
            let files = [("before.yaml", before), ("after.yaml", after)];
            let ran = ome_on("diff --base {before.yaml} -f {after.yaml}", &files);
            let line = ran.out.lines().find(|line| line.contains("not compared: "));
            line.unwrap_or("").trim().to_owned()
        };
        assert_eq!(line(&both, &node), "not compared: 1 InferenceGraph (ml/g) in the base");
        assert_eq!(line(&node, &both), "not compared: 1 InferenceGraph (ml/g)");
        assert_eq!(line(&both, &both), "not compared: 1 InferenceGraph (ml/g)");
        assert_eq!(line(&node, &node), "");
    }

    #[test]
    fn a_kind_of_two_groups_is_one_number() {
        let row = |api_version: &str, kind: &str, count| InputRow {
            api_version: api_version.into(),
            kind: kind.into(),
            count,
            handling: Handling::Workload,
            devices: [("nvidia.com/gpu".into(), 1)].into(),
            requesting: count,
            examples: Vec::new(),
            kinds: [("Gateway".into(), 2), ("Job".into(), 1)].into(),
        };
        let rows = [row("batch/v1", "Job", 2), row("kai.example/v1", "Job", 3), row("", "*", 3)];
        assert_eq!(kinds(&rows).unwrap(), "the input has 6 Job (and 6 more), 2 Gateway");
        assert_eq!(line(&rows[..2], true), None, "they are placed");
        let text = line(&rows[..2], false).unwrap();
        assert_eq!(text, "not counted without nodes: 5 Job (requests nvidia.com/gpu)");
        let rows = rows.map(|row| InputRow { handling: Handling::Unread, ..row });
        let text = line(&rows[..2], true).unwrap();
        assert_eq!(text, "not counted: 5 Job (requests nvidia.com/gpu)");
        // Only those that request a device are told of.
        let some = [InputRow { requesting: 1, ..rows[0].clone() }, rows[1].clone()];
        let text = line(&some, true).unwrap();
        assert_eq!(text, "not counted: 4 of 5 Job (requests nvidia.com/gpu)");
        let old = row("serving.kubeflow.org/v1beta1", "InferenceService", 1);
        let old = [InputRow { handling: Handling::Unread, devices: [].into(), ..old }];
        assert!(line(&old, true).unwrap().contains("`ome convert` writes"));
    }
}
