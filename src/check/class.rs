//! What no AcceleratorClass can mean: expressions Kubernetes refuses, terms that match no node,
//! nodes that two classes claim.

use super::{View, about};
use crate::api::AcceleratorClass;
use crate::diag::{Code, Diagnostic};
use crate::machines;
use crate::policy::Semantics;
use crate::yaml::{Node, Origin};
use ecow::EcoString;

/// Label of the tiers of the base set: they group products and claim their nodes beside them
/// (S2-076).
const TIER: &str = "ome.io/gpu-tier";

/// Classes of the user as the documents read them.
fn classes<'a>(view: &'a View<'a>) -> impl Iterator<Item = &'a AcceleratorClass> {
    let documented = view.semantics == Semantics::Documented;
    view.catalog
        .classes(Semantics::Documented)
        .filter(move |class| documented && !class.object.builtin)
}

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
            values: node
                .get("values")
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .filter_map(Node::scalar_text)
                .collect(),
            origin: node.origin,
        })
        .collect()
}

/// Terms of discovery: what Kubernetes refuses, and what matches no node (accelerators.md 5.5).
pub(super) fn terms(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for class in classes(view) {
        let object = &class.object;
        let required =
            ["nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
        let affinity =
            class.discovery.affinity.as_ref().and_then(|affinity| affinity.at(&required));
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
                    format!("`matchFields` knows `metadata.name` alone, not `{}`", field.key),
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
                        said(first),
                        said(second)
                    ),
                );
                let finding = finding
                    .at(second.origin.span())
                    .help("delete one of the two, or make them two terms: either is enough then");
                found.push(if let Some(span) = first.origin.span() {
                    finding.label(Some(span), "this one")
                } else {
                    finding
                });
            }
        }
    }
}

fn said(expression: &Expression) -> String {
    if expression.values.is_empty() {
        expression.operator.to_string()
    } else {
        format!("{} {}", expression.operator, expression.values.join(", "))
    }
}

/// What Kubernetes refuses an expression for.
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

/// Two expressions on one key that no label meets both of.
fn contradiction(all: &[Expression]) -> Option<(&Expression, &Expression)> {
    let pairs = all
        .iter()
        .enumerate()
        .flat_map(|(index, first)| all[index + 1..].iter().map(move |second| (first, second)));
    pairs.into_iter().find(|(first, second)| {
        first.key == second.key && (excludes(first, second) || excludes(second, first))
    })
}

fn excludes(first: &Expression, second: &Expression) -> bool {
    let bound = |expression: &Expression| {
        expression.values.first().and_then(|value| value.parse::<i64>().ok())
    };
    match (first.operator.as_str(), second.operator.as_str()) {
        ("In", "In") => {
            !first.values.is_empty()
                && !second.values.is_empty()
                && !first.values.iter().any(|value| second.values.contains(value))
        }
        ("In", "NotIn") => {
            !first.values.is_empty()
                && first.values.iter().all(|value| second.values.contains(value))
        }
        ("DoesNotExist", "In" | "Exists" | "Gt" | "Gte" | "Ge" | "Lt" | "Lte" | "Le") => true,
        // Between two bounds there is a whole number, or nothing.
        ("Gt", "Lt") => bound(first)
            .zip(bound(second))
            .is_some_and(|(above, below)| below.saturating_sub(above) < 2),
        _ => false,
    }
}

/// Nodes that two classes claim: their accelerators are counted in both.
pub(super) fn claims(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let nodes = view.catalog.machines();
    let claimed: Vec<(&AcceleratorClass, Vec<&machines::Machine>)> =
        classes(view).map(|class| (class, machines::matching(class, nodes))).collect();
    let is_tier = |class: &AcceleratorClass| class.object.labels().get(TIER).is_some();
    for (index, (first, own)) in claimed.iter().enumerate() {
        for (second, other) in &claimed[index + 1..] {
            if is_tier(first) != is_tier(second) {
                continue;
            }
            let both: Vec<&str> = own
                .iter()
                .filter(|machine| other.iter().any(|node| node.name == machine.name))
                .map(|machine| machine.name.as_str())
                .collect();
            let Some(example) = both.first() else { continue };
            let more = if both.len() == 1 {
                String::new()
            } else {
                format!(" and {} more", both.len() - 1)
            };
            let message = format!(
                "classes `{}` and `{}` both claim node {example}{more}: each counts its accelerators",
                first.name(),
                second.name()
            );
            let finding = about(Code::NodeInTwoClasses, &second.object, message)
                .object(first.object.id.to_string());
            found.push(
                finding
                    .at(second.object.name_span())
                    .label(first.object.name_span(), "the other class")
                    .help("make the selectors exclude each other, or delete one of the classes"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{codes, run};
    use crate::diag::Code;
    use crate::policy::Semantics::Documented;

    fn found(discovery: &str, rest: &str) -> Vec<String> {
        let text = format!(
            "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: c}}\nspec: {{vendor: nvidia, discovery: {discovery}, capabilities: {{}}, {rest}}}\n"
        );
        codes(&run(&text, Documented)).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn expressions_and_terms_that_mean_nothing_are_found() {
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
}
