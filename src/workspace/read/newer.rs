//! Fields and kinds that no known release has: of a newer release, or a mistake.
//!
//! A field that a newer release is known to have is an error only where an older one is followed.
//! Of any other field that nothing marks as wrong, no near name and no hint, a command that does
//! not check the input says that it may be newer; `validate` calls it an error, as the server does.

use super::ReadOptions;
use crate::api::{Api, Semantics};
use crate::diag::{Code, Diagnostic, Severity};
use crate::operators;
use crate::schema::{newer_at_path, older_at_path};

/// Grades findings of one document about fields that the schemas lack.
pub(super) fn grade(found: &mut Vec<Diagnostic>, api: Api, server: bool, given: &ReadOptions) {
    found.retain(|finding| match finding.code {
        Code::NewerThanKnown | Code::RemovedField => !is_followed(finding, given),
        _ => true,
    });
    for finding in found.iter_mut() {
        let path = finding.path.clone().unwrap_or_default();
        match finding.code {
            // The release that is followed drops such a field, and the object would not do what it
            // says.
            Code::NewerThanKnown
                if server && newer_at_path(&path).is_none_or(|newer| !newer.is_experimental()) =>
            {
                make_unknown(finding, &path);
            }
            Code::RemovedField if server && older_at_path(&path).is_some() => {
                make_unknown(finding, &path);
            }
            Code::UnknownField
                if !server
                    && !given.checks_fields
                    && api.is_of_operator()
                    && is_unmarked(finding) =>
            {
                finding.code = Code::NewerThanKnown;
                finding.severity = Severity::Warning;
                finding.message =
                    format!("{}: no known release of {} has it", finding.message, api.title());
                finding.help = Some("delete it, unless a newer release has it".to_owned());
            }
            _ => {}
        }
    }
}

/// Makes an error of a field of another release than the one that is followed.
fn make_unknown(finding: &mut Diagnostic, path: &str) {
    finding.code = Code::UnknownField;
    finding.severity = Severity::Error;
    finding.message = format!("unknown field `{path}`: {}", finding.message);
}

/// Grades findings of the objects that set up OpenShift AI: each of its releases has components of its
/// own, and one of them is known.
pub(super) fn grade_platform(found: &mut [Diagnostic], group: &str) {
    const GROUPS: [&str; 2] =
        ["datasciencecluster.opendatahub.io", "dscinitialization.opendatahub.io"];
    let is_unknown =
        // A finding with a fix is a misspelled name, which no newer release explains.
        |finding: &&mut Diagnostic| finding.code == Code::UnknownField && finding.fix.is_empty();
    for finding in found.iter_mut().filter(is_unknown).filter(|_| GROUPS.contains(&group)) {
        finding.code = Code::NewerThanKnown;
        finding.severity = Severity::Warning;
        finding.message =
            format!("{}: the known release of OpenShift AI does not have it", finding.message);
        finding.help = Some("nothing, if the release that you run has it".to_owned());
    }
}

/// Whether nothing near was meant: no other name, no other place, no table of moved names.
fn is_unmarked(finding: &Diagnostic) -> bool {
    finding.fix.is_empty()
        && finding.help.as_ref().is_none_or(|help| {
            // A newer release may group fields under a name.
            ["the fields are", "delete the key", "leave `"]
                .iter()
                .any(|none| help.starts_with(none))
        })
}

/// Whether the release that is followed has the field.
fn is_followed(finding: &Diagnostic, given: &ReadOptions) -> bool {
    let path = finding.path.as_deref().unwrap_or_default();
    let (project, first, last) = match (newer_at_path(path), older_at_path(path)) {
        (Some(newer), _) => (newer.project, Some(newer.since), None),
        (None, Some(older)) => (older.project, None, Some(older.until)),
        (None, None) => return false,
    };
    let tags = |releases: Vec<crate::api::Release>| -> Vec<&'static str> {
        releases.into_iter().map(|release| release.tag).collect()
    };
    let Some((name, releases)) =
        operators::known_releases().into_iter().find(|(name, _)| *name == project)
    else {
        return false;
    };
    let followed = if name == operators::platform::KUBERNETES {
        Some(given.platform.kubernetes)
    } else {
        let api = operators::released().find(|(operator, _)| *operator == name).map(|(_, api)| api);
        let policy = api.and_then(|api| given.readings.policy_by(api, Semantics::Controller));
        let is_controller =
            api.is_some_and(|api| given.readings.mode(api) == Semantics::Controller);
        // Under the documents no release is followed, and the field is as new as it is.
        policy.filter(|_| is_controller).map(|policy| policy.id.tag)
    };
    let tags = tags(releases);
    let place = |tag: &str| tags.iter().position(|name| *name == tag);
    // A release that is not in the list has no order with the others.
    let Some(followed) = followed.and_then(place) else { return false };
    first.and_then(place).is_some_and(|first| followed >= first)
        || last.and_then(place).is_some_and(|last| followed <= last)
}
