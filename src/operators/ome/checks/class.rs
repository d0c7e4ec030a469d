//! Invalid AcceleratorClasses: expressions that Kubernetes rejects, terms that match no node, nodes
//! that two classes claim.

use super::classes_of_user;
use crate::api::AcceleratorClass;
use crate::check::{View, about};
use crate::cluster::{Machine, Matcher};
use crate::diag::{Code, Diagnostic};
use crate::yaml::{Node, Origin};
use ecow::EcoString;
use indexmap::IndexMap;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Label of the tier classes of the base set. Tiers group products and claim the nodes of those
/// products again (OEP-0003, Platform-Provided Base Set).
pub(crate) const TIER: &str = "ome.io/gpu-tier";

/// One expression of a term.
struct Expression {
    key: EcoString,
    operator: EcoString,
    values: Vec<EcoString>,
    origin: Origin,
}

fn expressions(term: &Node, list: &str) -> Vec<Expression> {
    let text =
        |node: &Node, key: &str| node.get(key).and_then(Node::scalar_text).unwrap_or_default();
    let items = term.get(list).map(Node::items).unwrap_or_default();
    items
        .iter()
        .map(|node| Expression {
            key: text(node, "key"),
            operator: text(node, "operator"),
            values: node.texts("values").collect(),
            origin: node.origin,
        })
        .collect()
}

/// Checks discovery terms: expressions that Kubernetes rejects, terms that match no node
/// (docs/decisions.md#terms).
pub(crate) fn terms(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for class in classes_of_user(view) {
        let object = &class.object;
        let required =
            ["nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
        let affinity =
            class.discovery.affinity.as_ref().and_then(|affinity| affinity.at(&required));
        // Terms of the discovery and of the affinity are written alike and judged alike.
        for term in class.discovery.terms.iter().chain(affinity).flat_map(Node::items) {
            let (labels, fields) =
                (expressions(term, "matchExpressions"), expressions(term, "matchFields"));
            if labels.is_empty() && fields.is_empty() {
                let finding = about(Code::MatchesNoNode, object, "an empty term matches no node")
                    .help("write `matchExpressions`, or delete the term");
                found.push(finding.at(term.origin.span()));
            }
            for expression in labels.iter().chain(&fields) {
                if let Some(problem) = refused(expression) {
                    let finding = about(
                        Code::InvalidValue,
                        object,
                        format!(
                            "`{}` of the term on `{}`: {problem}",
                            expression.operator, expression.key
                        ),
                    );
                    found.push(
                        finding.at(expression.origin.span()).help("write In or NotIn with values, Exists or DoesNotExist without, Gt or Lt with one number"),
                    );
                }
            }
            for field in fields.iter().filter(|field| field.key != "metadata.name") {
                let finding = about(
                    Code::InvalidValue,
                    object,
                    format!("`matchFields` supports `metadata.name` only, not `{}`", field.key),
                );
                found.push(
                    finding.at(field.origin.span()).help("write `matchExpressions` for labels"),
                );
            }
            if let Some((first, second)) = contradiction(&labels) {
                let finding = about(
                    Code::MatchesNoNode,
                    object,
                    format!(
                        "no node matches the term: `{}` {} and {} exclude each other",
                        first.key,
                        shown(first),
                        shown(second)
                    ),
                );
                let finding = finding
                    .at(second.origin.span())
                    .help("delete one of the two, or make them two terms: either is enough then");
                // Both places are shown, as either expression may be the wrong one.
                found.push(if let Some(span) = first.origin.span() {
                    finding.label(Some(span), "this one")
                } else {
                    finding
                });
            }
        }
    }
}

fn shown(expression: &Expression) -> String {
    if expression.values.is_empty() {
        expression.operator.to_string()
    } else {
        format!("{} {}", expression.operator, expression.values.join(", "))
    }
}

/// Why Kubernetes rejects an expression.
fn refused(expression: &Expression) -> Option<&'static str> {
    match (expression.operator.as_str(), expression.values.len()) {
        ("In" | "NotIn", 0) => Some("the list of values cannot be empty"),
        ("Exists" | "DoesNotExist", 1..) => Some("it takes no values"),
        ("Gt" | "Lt" | "Gte" | "Ge" | "Lte" | "Le", count) if count != 1 => {
            Some("it takes exactly one value")
        }
        (
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" | "Gte" | "Ge" | "Lte" | "Le",
            _,
        ) => None,
        _ => Some("no such operator"),
    }
}

/// Two expressions on one key that no label value satisfies together.
fn contradiction(all: &[Expression]) -> Option<(&Expression, &Expression)> {
    let pairs = all
        .iter()
        .enumerate()
        .flat_map(|(index, first)| all[index + 1..].iter().map(move |second| (first, second)));
    pairs.into_iter().find(|(first, second)| {
        // The relation is not symmetric: `DoesNotExist` excludes `In`, and neither order is given.
        first.key == second.key && (excludes(first, second) || excludes(second, first))
    })
}

fn excludes(first: &Expression, second: &Expression) -> bool {
    let bound = |expression: &Expression| {
        expression.values.first().and_then(|value| value.parse::<i64>().ok())
    };
    match (first.operator.as_str(), second.operator.as_str()) {
        ("In", "In") => {
            // An empty list is invalid and has its own finding.
            !first.values.is_empty()
                && !second.values.is_empty()
                && !first.values.iter().any(|value| second.values.contains(value))
        }
        ("In", "NotIn") => {
            !first.values.is_empty()
                && first.values.iter().all(|value| second.values.contains(value))
        }
        ("DoesNotExist", "In" | "Exists" | "Gt" | "Gte" | "Ge" | "Lt" | "Lte" | "Le") => true,
        // A whole number must lie between the two bounds.
        ("Gt", "Lt") => bound(first)
            .zip(bound(second))
            .is_some_and(|(above, below)| below.saturating_sub(above) < 2),
        _ => false,
    }
}

/// Maximum number of findings about classes that claim one node.
const MOST_CLAIMS: usize = 1_000;
/// Maximum number of class pairs from two groups that are reported individually.
const MOST_OF_GROUPS: usize = 100;
/// Maximum number of checked combinations of a node with two groups that claim it.
const MOST_MEETINGS: usize = 2_000_000;

/// Classes that claim the same nodes and count the same resources: all are tiers, or none is.
struct Claim<'a> {
    is_tier: bool,
    /// The counted resources; empty if the classes set none.
    resources: BTreeSet<&'a str>,
    classes: Vec<&'a AcceleratorClass>,
    nodes: Arc<[&'a Machine]>,
}

impl Claim<'_> {
    /// Whether both count accelerators of the same node: the profiles of a partitioned device are
    /// resources of their own, and a class counts one of them.
    fn meets(&self, other: &Self) -> bool {
        // A class without resources may count any, so that it is never apart.
        let is_apart = !self.resources.is_empty()
            && !other.resources.is_empty()
            && self.resources.is_disjoint(&other.resources);
        self.is_tier == other.is_tier && !is_apart
    }
}

/// Reports nodes that two classes claim: their accelerators are counted twice.
pub(crate) fn claims(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let claims = claimed(view);
    let mut reported = 0_usize;
    let mut say = |first: &AcceleratorClass, second: &AcceleratorClass, what: String| {
        reported += 1;
        // Counted on, so that the last finding can say how many there are.
        if reported > MOST_CLAIMS {
            return;
        }
        let finding = about(Code::NodeInTwoClasses, &second.object, what)
            .object(first.object.id.to_string())
            .at(second.object.name_span())
            .label(first.object.name_span(), "the other class")
            .help("make the selectors exclude each other, or delete one of the classes");
        found.push(finding);
    };
    let mut meet = |first: &[&AcceleratorClass], second: &[&AcceleratorClass], node, more| {
        let rest: String = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let of_one = std::ptr::eq(first, second);
        // Two large groups have too many pairs to be listed: one finding stands for them.
        if first.len() * second.len() > MOST_OF_GROUPS {
            let like = |all: &[&AcceleratorClass]| match all.len() {
                1 => format!("`{}`", all[0].name()),
                many => format!("`{}` and {} more", all[0].name(), many - 1),
            };
            let (other, who) = if of_one {
                (first[1], like(first))
            } else {
                (second[0], format!("{}, and {},", like(first), like(second)))
            };
            let what =
                format!("classes {who} all claim node {node}{rest}: each counts its accelerators");
            return say(first[0], other, what);
        }
        for (index, a) in first.iter().enumerate() {
            // Within one group each pair is taken once.
            for b in &second[if of_one { index + 1 } else { 0 }..] {
                let what = format!(
                    "classes `{}` and `{}` both claim node {node}{rest}: each counts its \
                     accelerators",
                    a.name(),
                    b.name()
                );
                say(a, b, what);
            }
        }
    };
    for claim in claims.iter().filter(|claim| claim.classes.len() > 1) {
        let node = &claim.nodes[0].name;
        meet(&claim.classes, &claim.classes, node, claim.nodes.len() - 1);
    }
    for ((first, second), (node, count)) in shared(&claims) {
        meet(&claims[first].classes, &claims[second].classes, &node.name, count - 1);
    }
    if let Some(untold) = reported.checked_sub(MOST_CLAIMS).filter(|untold| *untold > 0)
        && let Some(last) = found.last_mut()
    {
        last.message = format!("{}; {untold} more such findings are not listed", last.message);
    }
}

/// Groups classes by the nodes that they claim and the resources that they count; classes without
/// nodes are omitted.
fn claimed<'a>(view: &'a View<'a>) -> Vec<Claim<'a>> {
    type Key<'a, T> = (bool, BTreeSet<&'a str>, T);
    let mut matcher = Matcher::new(view.catalog.machines());
    let mut claims: IndexMap<Key<'a, Vec<*const Machine>>, Claim<'a>> = IndexMap::new();
    // Classes with the same selection share one list.
    let mut places: HashMap<Key<'a, *const &Machine>, usize> = HashMap::new();
    for class in classes_of_user(view) {
        let nodes = matcher.matching(class);
        if nodes.is_empty() {
            continue;
        }
        let is_tier = class.object.labels().get(TIER).is_some();
        let whole = class.whole_resources();
        let resources: BTreeSet<&str> =
            whole.map(|resource| resource.name.value.as_str()).collect();
        // The address of the shared list stands for its nodes: comparing lists would cost as much
        // as the fleet.
        let selection = (is_tier, resources.clone(), nodes.as_ptr());
        let place = *places.entry(selection).or_insert_with(|| {
            // Different selectors may select the same nodes, and are one claim then.
            let members = nodes.iter().map(|node| std::ptr::from_ref(*node)).collect();
            let entry = claims.entry((is_tier, resources.clone(), members));
            let place = entry.index();
            entry.or_insert_with(|| Claim { is_tier, resources, classes: Vec::new(), nodes });
            place
        });
        claims[place].classes.push(class);
    }
    claims.into_values().collect()
}

/// Two groups of classes, with the first node that both claim and the number of such nodes.
type Shared<'a> = IndexMap<(usize, usize), (&'a Machine, usize)>;

fn shared<'a>(claims: &[Claim<'a>]) -> Shared<'a> {
    let mut claimants: IndexMap<*const Machine, (&Machine, Vec<usize>)> = IndexMap::new();
    for (place, claim) in claims.iter().enumerate() {
        for node in &*claim.nodes {
            let entry = claimants.entry(std::ptr::from_ref(*node));
            entry.or_insert_with(|| (node, Vec::new())).1.push(place);
        }
    }
    // The keys are addresses in the catalog, so this is the catalog's order of nodes.
    claimants.sort_unstable_keys();
    let mut shared = Shared::new();
    let mut left = MOST_MEETINGS;
    for (node, places) in claimants.values() {
        for (index, first) in places.iter().enumerate() {
            for second in &places[index + 1..] {
                if !claims[*first].meets(&claims[*second]) {
                    continue;
                }
                // The pairs so far are reported; more would take too long.
                if left == 0 {
                    return shared;
                }
                left -= 1;
                shared.entry((*first, *second)).or_insert((*node, 0)).1 += 1;
            }
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use crate::api::Semantics::Documented;
    use crate::check::fixture::{codes, run};
    use crate::diag::Code;

    fn found(discovery: &str, rest: &str) -> Vec<String> {
        let text = format!(
            "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: c}}\nspec: {{vendor: nvidia, discovery: {discovery}, capabilities: {{}}, {rest}}}\n"
        );
        codes(&run(&text, Documented)).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn invalid_and_contradictory_terms_are_reported() {
        let (value, none) = (Code::InvalidValue.as_str(), Code::MatchesNoNode.as_str());
        for (terms, expected) in [
            (
                "[{key: a, operator: In, values: [x]}, {key: a, operator: NotIn, values: ['y']}]",
                vec![],
            ),
            (
                "[{key: a, operator: In, values: [x]}, {key: a, operator: In, values: [z]}]",
                vec![none],
            ),
            (
                "[{key: a, operator: In, values: [x]}, {key: a, operator: NotIn, values: [x, z]}]",
                vec![none],
            ),
            ("[{key: a, operator: Exists}, {key: a, operator: DoesNotExist}]", vec![none]),
            (
                "[{key: a, operator: Gt, values: ['7']}, {key: a, operator: Lt, values: ['8']}]",
                vec![none],
            ),
            (
                "[{key: a, operator: Gt, values: ['7']}, {key: a, operator: Lt, values: ['9']}]",
                vec![],
            ),
            ("[{key: a, operator: In, values: []}]", vec![value]),
            ("[{key: a, operator: Exists, values: [x]}]", vec![value]),
            ("[{key: a, operator: Gt, values: ['1', '2']}]", vec![value]),
            ("[{key: a, operator: Near, values: [x]}]", vec![value]),
            ("[]", vec![none]),
        ] {
            assert_eq!(
                found(&format!("{{nodeSelectorTerms: [{{matchExpressions: {terms}}}]}}"), ""),
                expected,
                "{terms}"
            );
        }
    }

    #[test]
    fn classes_that_share_a_node_are_reported_in_pairs_or_groups() {
        let claims = |counts: &[(&str, usize)]| {
            let class = |selector: &str, index: usize| {
                format!(
                    "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: {selector}{index:02}}}\nspec: {{vendor: nvidia, discovery: {{nodeSelector: {{{selector}: 'yes'}}}}}}\n---\n"
                )
            };
            let classes: String = counts
                .iter()
                .flat_map(|(selector, count)| (0..*count).map(|index| class(selector, index)))
                .collect();
            let node = |name: &str, labels: &str| {
                format!(
                    "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n---\n"
                )
            };
            let nodes = node("first", "a: 'yes'") + &node("second", "a: 'yes', b: 'yes'");
            let found = run(&(classes + &nodes), Documented);
            let claims = found.into_iter().filter(|one| one.code == Code::NodeInTwoClasses);
            claims.map(|one| one.message).collect::<Vec<String>>()
        };
        assert_eq!(claims(&[("a", 1), ("c", 1)]), Vec::<String>::new());
        assert_eq!(
            claims(&[("a", 1), ("b", 1)]),
            ["classes `a00` and `b00` both claim node second: each counts its accelerators"]
        );
        assert_eq!(claims(&[("a", 10)]).len(), 45);
        assert_eq!(
            claims(&[("a", 50), ("b", 3)]),
            [
                "classes `a00` and 49 more all claim node first and 1 more: each counts its accelerators",
                "classes `b00` and `b01` both claim node second: each counts its accelerators",
                "classes `b00` and `b02` both claim node second: each counts its accelerators",
                "classes `b01` and `b02` both claim node second: each counts its accelerators",
                "classes `a00` and 49 more, and `b00` and 2 more, all claim node second: each counts its accelerators",
            ]
        );
    }

    #[test]
    fn classes_of_different_resources_share_a_node() {
        let class = |name: &str, resources: &str| {
            format!(
                "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: {name}}}\nspec: {{vendor: nvidia, discovery: {{nodeSelector: {{a: 'yes'}}}}, resources: {resources}}}\n---\n"
            )
        };
        let node = "apiVersion: v1\nkind: Node\nmetadata: {name: mixed, labels: {a: 'yes'}}\n---\n";
        let [small, large] = ["nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb"];
        for (first, second, count) in [
            (format!("[{{name: {small}}}]"), format!("[{{name: {large}}}]"), 0),
            (format!("[{{name: {small}}}]"), format!("[{{name: {small}}}]"), 1),
            (format!("[{{name: {small}}}]"), format!("[{{name: {large}}}, {{name: {small}}}]"), 1),
            (format!("[{{name: {small}}}]"), "[]".to_owned(), 1),
        ] {
            let found = run(&(class("a", &first) + &class("b", &second) + node), Documented);
            let claims = found.iter().filter(|one| one.code == Code::NodeInTwoClasses);
            assert_eq!(claims.count(), count, "{first} {second}");
        }
    }
}
