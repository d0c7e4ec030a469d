//! Tests of the order of eligible runtimes: the keys of each rule, the messages, the notes.

use super::{Scene, object};
use crate::api::Runtime;
use crate::decision::{Candidate, DecidedBy, Rank, Verdict};
use crate::operators::ome::releases::DOCUMENTED;
use crate::policy::RankRule;
use crate::select::input::scope_rank;
use crate::select::rank::{compare, detail, remarks, sort};
use std::cmp::Ordering;
use std::cmp::Reverse;

fn candidate(runtime: &Runtime, rank: Rank) -> Candidate<'_> {
    Candidate {
        runtime,
        verdict: Verdict::Eligible,
        rank: Some(rank),
        matched_entry: None,
        scored_entry: None,
        entries: Vec::new(),
        reasons: Vec::new(),
        notes: Vec::new(),
    }
}

fn names(candidates: &[Candidate<'_>]) -> Vec<String> {
    candidates.iter().map(|candidate| candidate.runtime.object.id.name.to_string()).collect()
}

/// Returns runtimes with and without a creation time, and a built-in one.
fn scene() -> Scene {
    let runtime = |name: &str, created: &str| {
        let created = match created {
            "" => String::new(),
            time => format!(", creationTimestamp: {time:?}"),
        };
        object("ClusterServingRuntime", name, &created, "")
    };
    let text = runtime("a", "")
        + &runtime("b", "")
        + &runtime("old", "2024-01-01T00:00:00Z")
        + &runtime("young", "2025-01-01T00:00:00Z")
        + &runtime("builtin-z", "")
        + &runtime("builtin-y", "");
    Scene::new(&DOCUMENTED, &text)
}

/// Returns ranks that differ in every key.
fn ranks() -> Vec<Rank> {
    let mut all = Vec::new();
    for namespaced in [false, true] {
        for priority in [None, Some(-1), Some(4)] {
            for distance in [None, Some(0.0), Some(5.0)] {
                for protocol in [1, 2] {
                    all.push(Rank { priority, distance, protocol, ..scope_rank(namespaced) });
                }
            }
        }
    }
    all
}

/// Returns the documented keys; smaller is better.
fn documented(candidate: &Candidate<'_>) -> impl Ord + use<> {
    let rank = candidate.rank.unwrap();
    let object = &candidate.runtime.object;
    (
        !rank.namespaced,
        Reverse(rank.priority),
        (rank.distance.is_none(), rank.distance.map(f64::to_bits)),
        Reverse((!object.builtin, object.created().map(str::to_owned))),
        object.id.name.clone(),
    )
}

/// Returns the keys of KServe's controller.
fn by_protocol(candidate: &Candidate<'_>) -> impl Ord + use<> {
    let rank = candidate.rank.unwrap();
    let object = &candidate.runtime.object;
    (
        !rank.namespaced,
        Reverse(rank.priority),
        rank.protocol,
        Reverse((!object.builtin, object.created().map(str::to_owned))),
        object.id.name.clone(),
    )
}

#[test]
fn runtimes_come_in_the_order_of_the_keys() {
    let scene = scene();
    let all: Vec<Candidate<'_>> = scene
        .runtimes()
        .iter()
        .flat_map(|runtime| ranks().into_iter().map(move |rank| candidate(runtime, rank)))
        .collect();
    for one in &all {
        for other in &all {
            let (order, key) = compare(RankRule::Priority, one, other);
            assert_eq!(order, documented(one).cmp(&documented(other)));
            let (left, right) = (one.rank.unwrap(), other.rank.unwrap());
            let expected = if left.namespaced != right.namespaced {
                DecidedBy::Scope
            } else if left.priority != right.priority {
                DecidedBy::Priority
            } else if left.distance != right.distance {
                DecidedBy::SizeDistance
            } else if one.runtime.object.builtin != other.runtime.object.builtin
                || one.runtime.object.created() != other.runtime.object.created()
            {
                DecidedBy::Age
            } else {
                DecidedBy::Name
            };
            assert_eq!(key, expected);
            let (order, _) = compare(RankRule::Protocol, one, other);
            assert_eq!(order, by_protocol(one).cmp(&by_protocol(other)));
        }
    }
    let mut sorted: Vec<Candidate<'_>> = all.iter().rev().cloned().collect();
    sort(RankRule::Priority, &mut sorted);
    assert!(sorted.is_sorted_by_key(documented));
    sort(RankRule::Protocol, &mut sorted);
    assert!(sorted.is_sorted_by_key(by_protocol));
}

#[test]
fn the_score_orders_runtimes_as_the_controller_does() {
    let scene = scene();
    let scored = |name: &str, namespaced: bool, score: i64, distance: Option<f64>| {
        let rank = Rank { score, distance, ..scope_rank(namespaced) };
        candidate(scene.runtime(name), rank)
    };
    // Rows: the first rank, the second, the expected order and the key that decides it.
    let far = 2_f64.powi(63);
    let rows = [
        ((false, 3, None), (true, 1, None), Ordering::Greater, DecidedBy::Scope),
        ((true, 3, None), (true, 1, None), Ordering::Less, DecidedBy::Score),
        ((true, 1, Some(9.0)), (true, 1, Some(2.0)), Ordering::Greater, DecidedBy::SizeDistance),
        ((true, 1, Some(2.0)), (true, 1, Some(9.0)), Ordering::Less, DecidedBy::SizeDistance),
        ((true, 1, None), (true, 1, Some(9.0)), Ordering::Less, DecidedBy::SizeDistance),
        // A difference below 1 counts as equal and skips the name; then age is compared, which is
        // equal.
        ((true, 1, Some(2.0)), (true, 1, Some(2.5)), Ordering::Less, DecidedBy::Name),
        ((true, 1, Some(2.5)), (true, 1, Some(2.0)), Ordering::Less, DecidedBy::Name),
        ((true, 1, Some(2.0)), (true, 1, Some(2.0)), Ordering::Less, DecidedBy::Name),
        (
            (true, 1, Some(f64::INFINITY)),
            (true, 1, Some(f64::INFINITY)),
            Ordering::Less,
            DecidedBy::Name,
        ),
        // For a difference beyond 64 bits or NaN, each one sorts after the other.
        ((true, 1, Some(0.0)), (true, 1, Some(far)), Ordering::Greater, DecidedBy::SizeDistance),
        ((true, 1, Some(far)), (true, 1, Some(0.0)), Ordering::Greater, DecidedBy::SizeDistance),
        ((true, 1, Some(far)), (true, 1, Some(0.5)), Ordering::Greater, DecidedBy::SizeDistance),
        (
            (true, 1, Some(f64::NAN)),
            (true, 1, Some(1.0)),
            Ordering::Greater,
            DecidedBy::SizeDistance,
        ),
    ];
    for (one, other, order, key) in rows {
        let a = scored("a", one.0, one.1, one.2);
        let b = scored("b", other.0, other.1, other.2);
        assert_eq!(compare(RankRule::Score, &a, &b), (order, key), "{one:?} {other:?}");
    }
    // Runtimes of the namespace first, each scope sorted separately; equal runtimes keep their
    // listing order: the newest first, built-in ones last.
    let mut candidates = vec![
        scored("builtin-z", false, 1, Some(2.0)),
        scored("old", false, 1, Some(2.5)),
        scored("b", true, 1, None),
        scored("young", false, 1, Some(2.2)),
        scored("a", true, 2, None),
        scored("builtin-y", false, 7, None),
    ];
    sort(RankRule::Score, &mut candidates);
    assert_eq!(names(&candidates), ["a", "b", "builtin-y", "young", "old", "builtin-z"]);
}

#[test]
fn rank_details_describe_both_operands() {
    let scene = scene();
    let message_of = |key, below: (&str, Rank), above: (&str, Rank)| {
        let below = candidate(scene.runtime(below.0), below.1);
        let above = candidate(scene.runtime(above.0), above.1);
        detail(key, &below, &above).to_string()
    };
    let plain = scope_rank(false);
    let priority = |priority| Rank { priority, ..plain };
    let score = |score| Rank { score, ..plain };
    let distance = |distance| Rank { distance: Some(distance), ..plain };
    let protocol = |protocol| Rank { protocol, ..plain };
    let rows = [
        (DecidedBy::Scope, ("a", plain), ("b", plain), "cluster scope comes after the namespace"),
        (DecidedBy::Priority, ("a", priority(Some(1))), ("b", priority(Some(2))), "priority 1 < 2"),
        (DecidedBy::Priority, ("a", priority(None)), ("b", priority(Some(2))), "no priority < 2"),
        (DecidedBy::Score, ("a", score(1)), ("b", score(20)), "score 1 < 20"),
        (
            DecidedBy::SizeDistance,
            ("a", distance(7e9)),
            ("b", distance(2e6)),
            "size distance 7B > 2M",
        ),
        (
            DecidedBy::SizeDistance,
            ("a", plain),
            ("b", distance(0.0)),
            "size distance unbounded > 0",
        ),
        (
            DecidedBy::SizeDistance,
            ("a", distance(0.5)),
            ("b", distance(-2.0)),
            "size distance 0.5 > -2",
        ),
        (
            DecidedBy::SizeDistance,
            ("a", distance(1e19)),
            ("b", distance(9e18)),
            "size distance 10000000000000000000 > 9000000000000000000",
        ),
        (
            DecidedBy::SizeDistance,
            ("a", distance(2e9)),
            ("b", distance(2e9)),
            "size distance 2B overflows beside 2B",
        ),
        (
            DecidedBy::SizeDistance,
            ("a", distance(1e9)),
            ("b", distance(2e9)),
            "size distance 1B overflows beside 2B",
        ),
        (DecidedBy::Age, ("builtin-z", plain), ("a", plain), "built-in is older"),
        (
            DecidedBy::Age,
            ("old", plain),
            ("young", plain),
            "created 2024-01-01T00:00:00Z before 2025-01-01T00:00:00Z",
        ),
        (
            DecidedBy::Age,
            ("a", plain),
            ("old", plain),
            "created at an unknown time before 2024-01-01T00:00:00Z",
        ),
        (
            DecidedBy::Protocol,
            ("a", protocol(5)),
            ("b", protocol(1)),
            "lowest protocol unknown after v1",
        ),
        (
            DecidedBy::Protocol,
            ("a", protocol(4)),
            ("b", protocol(2)),
            "lowest protocol grpc-v2 after v2",
        ),
        (DecidedBy::Name, ("b", plain), ("a", plain), "name b after a"),
    ];
    for (key, below, above, expected) in rows {
        assert_eq!(message_of(key, below, above), expected);
    }
}

/// Columns: the deciding key, the candidates, the notes.
type Remarked = (DecidedBy, Vec<(&'static str, Rank)>, Vec<&'static str>);

#[test]
fn remarks_list_ranking_steps_that_are_undocumented() {
    let scene = scene();
    let remarked = |key, candidates: &[(&str, Rank)]| -> Vec<String> {
        let candidates: Vec<Candidate<'_>> =
            candidates.iter().map(|(name, rank)| candidate(scene.runtime(name), *rank)).collect();
        let mut notes = Vec::new();
        remarks(key, &candidates[0], &candidates[1], &candidates, &mut notes);
        notes.iter().map(ToString::to_string).collect()
    };
    let rank = |namespaced, distance| Rank { distance, ..scope_rank(namespaced) };
    let near = rank(false, Some(1.0));
    let far = rank(false, Some(9.0));
    let order = "order not guaranteed by the documentation";
    let unknown = "creationTimestamp unknown offline, the name decided";
    let rows: [Remarked; 11] = [
        (DecidedBy::Priority, vec![("a", far), ("b", near)], vec!["size alone would choose b"]),
        (DecidedBy::Priority, vec![("a", near), ("b", far)], vec![]),
        (DecidedBy::Priority, vec![("a", near), ("b", near)], vec![]),
        (DecidedBy::SizeDistance, vec![("a", far), ("b", near)], vec![]),
        // A candidate of another scope is not an alternative.
        (DecidedBy::Priority, vec![("a", rank(true, Some(9.0))), ("b", near)], vec![]),
        (DecidedBy::Age, vec![("young", near), ("old", near)], vec![order]),
        (
            DecidedBy::Age,
            vec![("a", near), ("builtin-z", near)],
            vec![order, "newer than built-in builtin-z"],
        ),
        (DecidedBy::Age, vec![("builtin-y", near), ("builtin-z", near)], vec![order]),
        (DecidedBy::Name, vec![("a", near), ("young", near)], vec![order, unknown]),
        (DecidedBy::Name, vec![("young", near), ("a", near)], vec![order, unknown]),
        (DecidedBy::Name, vec![("old", near), ("young", near)], vec![order]),
    ];
    for (key, candidates, expected) in rows {
        assert_eq!(remarked(key, &candidates), expected, "{key:?}");
    }
}
