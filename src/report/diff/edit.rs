//! Edits before an upgrade, as JSON and as text.

use crate::api::FieldEdit;
use crate::diff::{AllEdits, Difference, Direction, Group, Proposal, RuleEdit};
use crate::policy::upgrade::ReleaseRule;
use crate::report::screen::printable;
use serde_json::{Value, json};

/// Number of objects of a difference to name; the rest is counted.
const OBJECTS: usize = 3;

/// The direction as a word.
fn word(way: Direction) -> &'static str {
    match way {
        Direction::Upgrade => "upgrade",
        Direction::Downgrade => "downgrade",
    }
}

/// The title line of a rule. The title describes the newer release.
pub(super) fn title(rule: &ReleaseRule, way: Direction) -> String {
    let no_longer = match way {
        Direction::Upgrade => "",
        Direction::Downgrade => " no longer holds",
    };
    format!("{}{no_longer}: {} ({})", rule.id, rule.title, rule.source)
}

/// The action before an upgrade; it does not apply to a downgrade.
pub(super) fn action(rule: &ReleaseRule, way: Direction) -> Option<&'static str> {
    // A downgrade takes the rule back, so that its advice is of no use.
    (way == Direction::Upgrade).then_some(rule.action)
}

/// A rule with its edit.
pub(super) fn rule(rule: &ReleaseRule, proposal: Option<&Proposal>, way: Direction) -> Value {
    let edit = match proposal {
        Some(Proposal::Edit(edit)) => json!({
            "changes": edit.changes.iter().map(change).collect::<Vec<_>>(),
            "verified": edit.is_verified(),
            "proof": proof(edit, way),
            "today": difference(&edit.today),
        }),
        Some(Proposal::None(_)) | None => Value::Null,
    };
    let none = match proposal {
        Some(Proposal::None(why)) => Value::from(why.as_str()),
        Some(Proposal::Edit(_)) | None => Value::Null,
    };
    json!({ "id": rule.id, "title": rule.title, "source": rule.source, "takenBack": way == Direction::Downgrade, "action": action(rule, way), "edit": edit, "noEdit": none })
}

/// The rules of a group, each with its edit.
pub(super) fn rules(group: &Group, way: Direction) -> Value {
    let rules = group.rules.iter().enumerate();
    rules.map(|(place, release_rule)| rule(release_rule, group.edits.get(place), way)).collect()
}

/// All edits of a group together.
pub(super) fn all(edits: &AllEdits, way: Direction) -> Value {
    json!({
        "service": edits.service.as_str(),
        "changes": edits.changes.iter().map(change).collect::<Vec<_>>(),
        "broughtUp": edits.brought_up.iter().map(|(release_rule, proposal)| rule(release_rule, Some(proposal), way)).collect::<Vec<_>>(),
        "today": difference(&edits.today),
        "upgrade": difference(&edits.upgrade),
        "settled": edits.settled.iter().map(|rule| rule.id).collect::<Vec<_>>(),
        "patch": edits.patch.as_ref().map(|all| {
            let yaml: Vec<&str> = all.iter().map(|patch| patch.yaml.as_str()).collect();
            yaml.join("---\n")
        }),
    })
}

fn change(edit: &FieldEdit) -> Value {
    json!({ "object": edit.id.to_string(), "path": edit.path.to_string(), "from": edit.from, "to": edit.to })
}

fn difference(difference: &Difference) -> Value {
    let objects = difference.objects.iter().map(|(id, action, paths)| {
        let fields: Vec<String> = paths.iter().map(ToString::to_string).collect();
        json!({ "object": id.to_string(), "action": action.as_str(), "fields": fields })
    });
    json!({
        "restart": difference.restart,
        "fails": difference.fails.as_ref().map(|error| json!({ "code": error.code.as_str(), "message": error.message })),
        "chooses": difference.chooses,
        "objects": objects.collect::<Vec<_>>(),
    })
}

/// The result of deciding again with the edit.
fn proof(edit: &RuleEdit, way: Direction) -> String {
    let after = format!("the rule has no effect after the {}", word(way));
    if edit.is_verified() {
        format!("verified: with this edit nothing changes now, and {after}")
    } else {
        format!("with this edit {after}; applying it now: {}", sentence(&edit.today))
    }
}

/// The lines below a rule about how to keep the running objects; empty if the rule needs no action.
pub(super) fn lines(
    rule: &ReleaseRule,
    proposal: Option<&Proposal>,
    settled: bool,
    way: Direction,
) -> Vec<String> {
    match proposal {
        None => Vec::new(),
        // A rule without a need for action has none to miss.
        Some(Proposal::None(_)) if rule.action.starts_with("nothing") => Vec::new(),
        Some(Proposal::None(why)) if !settled => vec![format!("no edit: {}", printable(why))],
        Some(Proposal::None(_)) => {
            vec!["no edit needed: with the edits for the other rules it has no effect".to_owned()]
        }
        Some(Proposal::Edit(edit)) => {
            let changes = edit.changes.iter().map(|change| format!("edit: {}", assigned(change)));
            changes.chain([proof(edit, way)]).collect()
        }
    }
}

/// The lines about all edits of a group together.
pub(super) fn together(edits: &AllEdits, way: Direction) -> Vec<String> {
    let edit = if edits.changes.len() == 1 { "this edit" } else { "these edits" };
    let mut said_of = vec![format!("with {edit} on {}:", printable(&edits.service))];
    said_of.push(format!("  now: {}", sentence(&edits.today)));
    said_of.push(format!("  after the {}: {}", word(way), sentence(&edits.upgrade)));
    for (rule, proposal) in &edits.brought_up {
        let title = title(rule, way);
        said_of.push(format!("  then another rule has an effect. {title}"));
        said_of.extend(
            lines(rule, Some(proposal), false, way).into_iter().map(|line| format!("    {line}")),
        );
    }
    if edits.patch.is_none() {
        said_of.push("  no patch is printed: a list in it holds a secret".to_owned());
    }
    said_of
}

/// `spec.a.b of Kind/name: set to x`.
fn assigned(edit: &FieldEdit) -> String {
    let short = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match text.lines().count() {
            // A script in a field would push everything else off the screen.
            0 | 1 => printable(&text),
            lines => format!("{lines} lines"),
        }
    };
    let what = match (&edit.from, &edit.to) {
        (from, Value::Null) => format!("take out {}", short(from)),
        (Value::Null, to) => format!("set to {}", short(to)),
        (from, to) => format!("{} → {}", short(from), short(to)),
    };
    printable(&format!("`{}` of {}: {what}", edit.path, edit.id))
}

/// A difference as a sentence.
fn sentence(difference: &Difference) -> String {
    if difference.is_none() {
        return "nothing changes".to_owned();
    }
    let mut parts = Vec::new();
    if let Some(error) = &difference.fails {
        parts.push(format!("the service fails: {}", printable(&error.message)));
    }
    // Said in either case: it is the first question about an edit.
    parts.push(if difference.restart { "pods restart" } else { "no pod restarts" }.to_owned());
    if difference.chooses {
        parts.push("another runtime or class is chosen".to_owned());
    }
    let named: Vec<String> = difference
        .objects
        .iter()
        .take(OBJECTS)
        .map(|(id, ..)| printable(&id.to_string()))
        .collect();
    let more = difference.objects.len() - named.len();
    if !named.is_empty() {
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        parts.push(format!(
            "{}{more} change{}",
            named.join(", "),
            if difference.objects.len() == 1 { "s" } else { "" }
        ));
    }
    parts.join(", ")
}
