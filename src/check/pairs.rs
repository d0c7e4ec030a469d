//! Pairs of runtimes that can match the same model, so that priority, age or name decides between
//! them.
//!
//! # How cost grows
//! Only entries in the same scope with the same priority can tie; [`super::overlapping_entries`]
//! finds them without comparing all pairs. [`MOST_TIES`] limits the number of reported ties.

use super::overlapping_entries::{Candidate, Likeness, Meeting, Meetings, each_meeting};
use super::{View, graded};
use crate::api::{Api, Field, Object, Runtime, Scope, Size};
use crate::diag::{Code, Diagnostic, Severity};
use crate::policy::{Policy, RangeRule};
use crate::select::entry::{is_on, overlap, share_protocol};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Maximum number of reported ties per scope and priority; further ties are only counted.
pub(crate) const MOST_TIES: usize = 1_000;
/// Maximum number of runtimes of a group that a finding lists as its objects.
const MOST_NAMED: usize = 100;

/// The values that must be equal for two entries to tie.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    api: Api,
    scope: &'a Scope,
    priority: Option<i64>,
}

/// Reports pairs of runtimes in one scope that have the same priority or none (OME docs, Serving
/// Runtime, Constraints of priority; docs/decisions.md#same-priority).
pub(crate) fn ties(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let mut groups: BTreeMap<Key<'_>, Vec<Candidate<'_>>> = BTreeMap::new();
    for candidate in candidates(view) {
        let object = &candidate.runtime.object;
        let key = Key {
            api: object.api,
            scope: &object.id.scope,
            priority: candidate.entry.priority.as_ref().map(|priority| priority.value),
        };
        groups.entry(key).or_default().push(candidate);
    }
    // A pair that ties at several priorities is reported once. Ties without a priority are reported
    // separately.
    let mut told_pairs: HashSet<(bool, usize, usize)> = HashSet::new();
    let address = |candidate: &Candidate<'_>| std::ptr::from_ref(candidate.runtime) as usize;
    for (key, group) in groups {
        let mut number = 0_usize;
        let (mut last, mut last_group) = (None, None);
        // Ties in context-only files are not reported, so they do not count toward the limit.
        let reported = |candidate: &Candidate<'_>| candidate.runtime.object.reported;
        let meetings = each_meeting(view.policy(key.api), &group, |meeting| {
            let (a, b) = meeting.pair();
            // Ordered by name, so that each pair has a single key.
            let (a, b) = if a.runtime.object.id <= b.runtime.object.id { (a, b) } else { (b, a) };
            let counts = match &meeting {
                Meeting::Pair(..) => {
                    (reported(&a) || reported(&b))
                        && told_pairs.insert((key.priority.is_some(), address(&a), address(&b)))
                }
                Meeting::Groups(first, second) => first.iter().chain(second.iter()).any(reported),
            };
            if !counts {
                return;
            }
            number += 1;
            // Of those that are only counted, just the last is written out.
            last = Some((a, b));
            last_group = None;
            match &meeting {
                Meeting::Pair(..) if number <= MOST_TIES => found.push(tie(&key, a, b, None)),
                Meeting::Pair(..) => {}
                Meeting::Groups(first, second) => {
                    let finding = group_tie(&key, first, second);
                    if number <= MOST_TIES {
                        found.push(finding);
                    } else {
                        last_group = Some(finding);
                    }
                }
            }
        });
        let untold = number.saturating_sub(MOST_TIES);
        let last = last.filter(|_| untold > 0);
        let last = last_group.or_else(|| last.map(|(a, b)| tie(&key, a, b, None)));
        found.extend(last.map(|finding| Diagnostic {
            message: format!(
                "{}; {untold} more ties of this priority are not listed",
                finding.message
            ),
            ..finding
        }));
        if meetings == Meetings::TooMany {
            found.push(uncompared(&key, &group));
        }
    }
}

/// Reports that one priority has too many runtimes to compare all pairs.
fn uncompared(key: &Key<'_>, group: &[Candidate<'_>]) -> Diagnostic {
    let priority = key.priority.map_or("no priority".to_owned(), |p| format!("priority {p}"));
    let first = &group[0].runtime.object;
    let code = code(key);
    Diagnostic::new(
        code,
        format!(
            "{} entries have {priority}, too many to compare each with each: some ties may not be \
             listed",
            group.len()
        ),
    )
    .severity(graded(code.doc().severity, first).min(Severity::Warning))
    .at(first.name_span())
    .object(first.id.to_string())
    .help("give them different priorities, architectures or size ranges")
}

fn code(key: &Key<'_>) -> Code {
    if key.priority.is_some() { Code::SamePriority } else { Code::AmbiguousAutoSelection }
}

/// Reports a tie within one group of equivalent runtimes, or between two such groups.
fn group_tie(key: &Key<'_>, first: &[Candidate<'_>], second: &[Candidate<'_>]) -> Diagnostic {
    let like = |members: &[Candidate<'_>]| {
        let name = &members[0].runtime.object.id.name;
        match members.len() {
            1 => format!("`{name}`"),
            many => format!("`{name}` and {} more like it", many - 1),
        }
    };
    let (b, who, rest) = if std::ptr::eq(first, second) {
        (first[1], like(first), &[][..])
    } else {
        (second[0], format!("{}, and {},", like(first), like(second)), second)
    };
    let mut finding = tie(key, first[0], b, Some(&who));
    let members = first.iter().chain(rest).take(MOST_NAMED);
    finding.objects = members.map(|member| member.runtime.object.id.to_string()).collect();
    finding
}

/// Reports a tie of two runtimes. With `many`, that text names the whole group in the message, and
/// the two runtimes are examples of it.
fn tie(key: &Key<'_>, a: Candidate<'_>, b: Candidate<'_>, many: Option<&str>) -> Diagnostic {
    // The place is in a reported file, and in the user's object rather than in a built-in one.
    let (here, there) =
        if rank(&b.runtime.object) < rank(&a.runtime.object) { (b, a) } else { (a, b) };
    let sizes = sizes(a, b);
    // Without models that have sizes, a runtime lists many formats, so the message names the one.
    let format = here
        .entry
        .format
        .as_ref()
        .filter(|_| !key.api.has_model_objects())
        .map(|format| format!(" of format `{}`", format.name.value));
    let sizes = format.unwrap_or(sizes);
    let two = format!("`{}` and `{}`", a.runtime.object.id.name, b.runtime.object.id.name);
    let who = many.unwrap_or(&two);
    let (have, has) =
        if many.is_some() { ("all have", "none has") } else { ("both have", "neither has") };
    let code = code(key);
    let (message, help) = match key.priority {
        Some(priority) => (
            format!("{who} can match one model{sizes} and {have} priority {priority}"),
            "give one of them a higher priority, or make their size ranges disjoint",
        ),
        None => (
            format!("{who} can match one model{sizes} and {has} a priority"),
            "give one of them a priority: the documents do not guarantee which one is chosen",
        ),
    };
    let builtin = here.runtime.object.builtin && there.runtime.object.builtin;
    let severity = if builtin {
        graded(code.doc().severity, &here.runtime.object)
    } else {
        code.doc().severity
    };
    let place = |candidate: Candidate<'_>| {
        let priority = candidate.entry.priority.as_ref().and_then(Field::span);
        priority
            .or_else(|| candidate.entry.origin.span())
            .unwrap_or_else(|| candidate.runtime.object.name_span())
    };
    let mut finding = Diagnostic::new(code, message)
        .severity(severity)
        .label(place(here), here.runtime.object.id.to_string())
        .label(place(there), there.runtime.object.id.to_string())
        .path("supportedModelFormats[].priority")
        .object(a.runtime.object.id.to_string())
        .object(b.runtime.object.id.to_string())
        .help(help);
    finding.overlap = Some(common(a, b));
    finding
}

fn rank(object: &Object) -> u8 {
    u8::from(!object.reported) * 2 + u8::from(object.builtin)
}

fn sizes(a: Candidate<'_>, b: Candidate<'_>) -> String {
    match common(a, b) {
        (None, None) => String::new(),
        (Some(min), Some(max)) if min == max => format!(" of {min}"),
        (Some(min), Some(max)) => format!(" of {min} to {max}"),
        (Some(min), None) => format!(" of {min} and more"),
        (None, Some(max)) => format!(" of up to {max}"),
    }
}

/// Returns the intersection of two ranges, as written.
fn common(a: Candidate<'_>, b: Candidate<'_>) -> (Option<String>, Option<String>) {
    let text = |bound: Option<&Field<Size>>| bound.map(|bound| bound.value.text.to_string());
    let min = if a.range.0 >= b.range.0 { a } else { b };
    let max = if a.range.1 <= b.range.1 { a } else { b };
    let bound = |candidate: Candidate<'_>, least: bool| {
        let range = candidate.runtime.size_range.as_ref()?;
        let open = if least {
            candidate.range.0 == f64::NEG_INFINITY
        } else {
            candidate.range.1 == f64::INFINITY
        };
        if open { None } else { text(if least { range.min.as_ref() } else { range.max.as_ref() }) }
    };
    (bound(min, true), bound(max, false))
}

/// Returns every entry of an enabled runtime that allows automatic selection.
fn candidates<'a>(view: &View<'a>) -> impl Iterator<Item = Candidate<'a>> {
    let view = *view;
    view.catalog
        .candidate_runtimes()
        .filter(|runtime| !runtime.disabled.as_ref().is_some_and(|disabled| disabled.value))
        .flat_map(move |runtime| {
            let range = range(view.policy(runtime.object.api), runtime);
            runtime.formats.iter().filter(|entry| is_on(entry)).map(move |entry| Candidate {
                runtime,
                entry,
                range,
            })
        })
}

/// Returns the bounds in parameters; a missing or invalid bound is open.
fn range(policy: &Policy, runtime: &Runtime) -> (f64, f64) {
    let bound = |size: &Field<Size>| match policy.range {
        RangeRule::OpenBounds => size.value.documented.map(crate::quantity::ParamCount::as_f64),
        // The controller's number for a text that is none is 0.
        RangeRule::CrashOnMissingBound => Some(size.value.controller),
    };
    let range = runtime.size_range.as_ref();
    let min =
        range.and_then(|range| range.min.as_ref()).and_then(bound).filter(|bound| !bound.is_nan());
    let max =
        range.and_then(|range| range.max.as_ref()).and_then(bound).filter(|bound| !bound.is_nan());
    (min.unwrap_or(f64::NEG_INFINITY), max.unwrap_or(f64::INFINITY))
}

/// Reports groups of runtimes that automatic selection can all choose for one model, regardless of
/// priority (OME docs, Serving Runtime, Constraints of priority; docs/decisions.md#same-priority).
pub(crate) fn overlaps(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let mut scopes: BTreeMap<(Api, &Scope), Vec<Candidate<'_>>> = BTreeMap::new();
    for candidate in candidates(view) {
        scopes
            .entry((candidate.runtime.object.api, &candidate.runtime.object.id.scope))
            .or_default()
            .push(candidate);
    }
    for ((api, _), all) in scopes {
        let policy = view.policy(api);
        let mut groups: BTreeMap<Vec<usize>, (f64, f64)> = BTreeMap::new();
        // A group is the set of entries that overlap at one size. Every group starts where the
        // range of a member starts.
        let mut by_architecture: BTreeMap<Option<&EcoString>, Vec<usize>> = BTreeMap::new();
        for (index, candidate) in all.iter().enumerate() {
            by_architecture
                .entry(
                    candidate.entry.architecture.as_ref().map(|architecture| &architecture.value),
                )
                .or_default()
                .push(index);
        }
        let none = Vec::new();
        let mut seen = HashSet::new();
        let covered = covered(policy, &all);
        for (index, first) in all.iter().enumerate().filter(|(index, _)| !covered.contains(index)) {
            // Equivalent entries are in the same groups.
            if !seen.insert(Likeness::of(first.runtime, first.range, [first.entry])) {
                continue;
            }
            let architecture =
                first.entry.architecture.as_ref().map(|architecture| &architecture.value);
            let same = by_architecture.get(&architecture).unwrap_or(&none);
            let open = if architecture.is_some() {
                by_architecture.get(&None).unwrap_or(&none)
            } else {
                &none
            };
            // At this size every other member of the group has begun as well.
            let start = first.range.0;
            let members: Vec<usize> = same
                .iter()
                .chain(open)
                .copied()
                .filter(|other| {
                    let other_candidate = &all[*other];
                    other_candidate.range.0 <= start
                        && start <= other_candidate.range.1
                        && (*other == index
                            || (share_protocol(policy, first.runtime, other_candidate.runtime)
                                && overlap(policy, first.entry, other_candidate.entry)))
                })
                .collect();
            let range = members.iter().fold((f64::NEG_INFINITY, f64::INFINITY), |range, member| {
                (range.0.max(all[*member].range.0), range.1.min(all[*member].range.1))
            });
            let mut names: Vec<usize> = members;
            // By name, so that a group has one key, whichever member it was found from.
            names.sort_by(|a, b| all[*a].runtime.object.id.cmp(&all[*b].runtime.object.id));
            names.dedup_by(|a, b| std::ptr::eq(all[*a].runtime, all[*b].runtime));
            if names.len() > 1 {
                groups.insert(names, range);
            }
        }
        let sets: Vec<BTreeSet<usize>> =
            groups.keys().map(|names| names.iter().copied().collect()).collect();
        let mut holding: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (position, set) in sets.iter().enumerate() {
            for member in set {
                holding.entry(*member).or_default().push(position);
            }
        }
        for (position, (names, range)) in groups.iter().enumerate() {
            // Skips a group that is a subset of a larger one.
            // A larger group holds this member too, so that no other group has to be compared.
            let others = holding.get(&names[0]).map(Vec::as_slice).unwrap_or_default();
            if others.iter().any(|other| {
                sets[*other].len() > names.len() && sets[position].is_subset(&sets[*other])
            }) {
                continue;
            }
            found.push(group(&all, names, *range));
        }
    }
}

/// Entries whose group is part of the group of an equivalent entry that starts next: no range ends
/// in between.
fn covered(policy: &Policy, all: &[Candidate<'_>]) -> HashSet<usize> {
    let mut ends: Vec<f64> = all.iter().map(|candidate| candidate.range.1).collect();
    ends.sort_by(f64::total_cmp);
    let mut alike: HashMap<Likeness<'_>, Vec<usize>> = HashMap::new();
    for (index, candidate) in all.iter().enumerate() {
        // Alike but for the range, which is what is compared below.
        let likeness = Likeness::of(candidate.runtime, (0.0, 0.0), [candidate.entry]);
        alike.entry(likeness).or_default().push(index);
    }
    let mut covered = HashSet::new();
    for mut entries in alike.into_values() {
        entries.sort_by(|a, b| all[*a].range.0.total_cmp(&all[*b].range.0));
        for (index, next) in entries.iter().zip(entries.iter().skip(1)) {
            let (candidate, next) = (&all[*index], &all[*next]);
            let first = ends.partition_point(|end| *end < candidate.range.0);
            if ends.get(first).is_none_or(|end| *end >= next.range.0)
                && share_protocol(policy, next.runtime, candidate.runtime)
                && overlap(policy, next.entry, candidate.entry)
            {
                covered.insert(*index);
            }
        }
    }
    covered
}

fn group(all: &[Candidate<'_>], names: &[usize], range: (f64, f64)) -> Diagnostic {
    let members: Vec<&Runtime> = names.iter().map(|index| all[*index].runtime).collect();
    let place =
        members.iter().min_by_key(|runtime| rank(&runtime.object)).expect("a group has members");
    let words: Vec<String> = names
        .iter()
        .map(|index| {
            let Candidate { runtime, entry, .. } = all[*index];
            let priority = entry.priority.as_ref().map_or("no priority".to_owned(), |priority| {
                format!("priority {}", priority.value)
            });
            let bounds = runtime.size_range.as_ref().map_or(String::new(), |range| {
                let text = |bound: &Option<Field<Size>>| {
                    bound.as_ref().map_or(String::new(), |bound| bound.value.text.to_string())
                };
                format!(", {}..{}", text(&range.min), text(&range.max))
            });
            format!("`{}` ({priority}{bounds})", runtime.object.id.name)
        })
        .collect();
    let mut finding = Diagnostic::new(
        Code::AutoselectOverlap,
        format!("automatic selection can choose any of {} for one model", words.join(", ")),
    )
    .severity(Severity::Info)
    .at(place.object.name_span())
    .help("nothing, if the priorities say what is meant");
    for runtime in &members {
        finding = finding.object(runtime.object.id.to_string());
    }
    let text = |least: bool, value: f64| {
        names.iter().find_map(|index| {
            let candidate = &all[*index];
            let (bound, runtime) = match (&candidate.runtime.size_range, least) {
                (Some(range), true) => (range.min.as_ref(), candidate.range.0),
                (Some(range), false) => (range.max.as_ref(), candidate.range.1),
                (None, _) => return None,
            };
            bound
                .filter(|_| runtime.total_cmp(&value).is_eq())
                .map(|bound| bound.value.text.to_string())
        })
    };
    finding.overlap = Some((text(true, range.0), text(false, range.1)));
    finding
}

#[cfg(test)]
mod tests;
