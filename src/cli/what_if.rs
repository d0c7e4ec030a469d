//! Questions about nodes that are lost: which nodes a flag names, and the answers.

use super::Failure;
use super::input::Session;
use crate::cluster::Machine;
use crate::diag::nearest;
use crate::pipeline::{At, Each, Losses, Lost, has_room, losses as lose};
use ecow::EcoString;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The input has no nodes.
pub(super) fn no_nodes(session: &Session) -> Failure {
    session.not_found(
        "no Node of the input reports its resources".into(),
        Some(
            "add the nodes of the cluster with `-f`: `kubectl get nodes -o yaml` prints them"
                .into(),
        ),
    )
}

/// The nodes that `--without` names; `None` without the flag.
///
/// # Errors
/// A value that no node matches.
pub(super) fn lost(
    session: &Session,
    without: &[Lost],
) -> Result<Option<BTreeSet<EcoString>>, Failure> {
    if without.is_empty() {
        return Ok(None);
    }
    let catalog = &session.world.catalog;
    if !has_room(catalog) {
        return Err(no_nodes(session));
    }
    let mut all = BTreeSet::new();
    for one in without {
        let nodes = one.nodes(catalog);
        if nodes.is_empty() {
            return Err(unknown(session, one));
        }
        all.extend(nodes);
    }
    Ok(Some(all))
}

/// Requires a node of a name.
///
/// # Errors
/// There is none.
pub(super) fn node(session: &Session, name: &EcoString) -> Result<(), Failure> {
    lost(session, &[Lost::Node(name.clone())]).map(drop)
}

/// The nodes of an accelerator class.
///
/// # Errors
/// There is none.
pub(super) fn of_class(session: &Session, name: &str) -> Result<BTreeSet<EcoString>, Failure> {
    lost(session, &[Lost::Class(name.into())]).map(Option::unwrap_or_default)
}

fn unknown(session: &Session, lost: &Lost) -> Failure {
    let catalog = &session.world.catalog;
    let each = match lost {
        Lost::Node(_) => Some(Each::Node),
        Lost::Zone(_) => Some(Each::Zone),
        Lost::Class(_) => Some(Each::Class),
        Lost::Label(..) => None,
    };
    let losses = each.map(|each| each.losses(catalog)).unwrap_or_default();
    let name: Vec<String> = losses.iter().map(ToString::to_string).collect();
    let text = lost.to_string();
    let near = nearest(&text, name.iter().map(String::as_str)).map(ToOwned::to_owned);
    let help = match (near, name.len()) {
        (Some(near), _) => Some(format!("did you mean `{near}`?")),
        (None, 0) => None,
        (None, _) => Some(format!("the input has {}", crate::report::phrases::first_of(&name, 5))),
    };
    session.not_found(format!("no node of the input matches `{text}`"), help)
}

/// The nodes that are left.
pub(super) fn left<'a>(
    session: &'a Session,
    lost: Option<&BTreeSet<EcoString>>,
) -> Cow<'a, [Machine]> {
    let all = session.world.catalog.machines();
    match lost {
        None => Cow::Borrowed(all),
        Some(lost) => all.iter().filter(|node| !lost.contains(&node.name)).cloned().collect(),
    }
}

/// One loss after another.
///
/// # Errors
/// No node reports its resources.
pub(super) fn losses(session: &Session, at: At, each: Each) -> Result<Losses, Failure> {
    let catalog = &session.world.catalog;
    lose(catalog, at, each).ok_or_else(|| no_nodes(session))
}
