use super::*;
use crate::cluster::tests::{labeled, object};
use crate::operators::ome::compose::testing::node;

fn machine(name: &str, gpus: i64, cpu: i64, pods: i64) -> Machine {
    let amounts = [("nvidia.com/gpu", gpus), ("cpu", cpu), ("pods", pods)];
    Machine {
        allocatable: Some(
            amounts
                .iter()
                .map(|(name, amount)| (EcoString::from(*name), Quantity::from_integer(*amount)))
                .collect(),
        ),
        ..Machine::labeled(name.into(), crate::yaml::Map::new())
    }
}

#[test]
fn pods_take_room_together_or_not_at_all() {
    let room = |name: &str, gpus: i64| {
        let machine = machine(name, gpus, 16, 16);
        Machine { labels: labeled("{zone: a}").labels, ..machine }
    };
    let machines = [room("one", 8), room("two", 4), machine("other", 8, 16, 16)];
    let of = |gpus: i64| {
        Shape::of(&node(&format!(
            "{{nodeSelector: {{zone: a}}, containers: [{{resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]}}"
        )))
    };
    let (small, large) = (of(2), of(4));
    let inventory = Inventory::new(&machines, []).unwrap();
    let mut left = inventory.clone();
    assert!(!left.place_all([(&small, 1), (&large, 3)]));
    assert!(left.place_all([(&small, 2), (&large, 2)]), "what failed took nothing");
    assert!(!left.place_all([(&small, 1)]));
    assert!(short_of([]).is_none());
    assert!(Inventory::new(&[labeled("{}")], []).is_none());
    // Running pods use resources.
    let name = ecow::EcoString::from("one");
    let mut busy = Inventory::new(&machines, [(&name, &of(8))]).unwrap();
    assert!(busy.place_all([(&large, 1)]));
    assert!(!busy.place_all([(&small, 1)]));
    let sized = Shape::of(&node(
        "{containers: [{resources: {limits: {nvidia.com/gpu: 2, example.com/x: 1, memory: 3, cpu: 4}}}]}",
    ));
    assert_eq!(sized.size(), (3000, 3000, 4000));
}

#[test]
fn of_many_nodes_the_first_are_kept_and_all_are_counted() {
    let lacks = |at: usize| Blocked {
        node: format!("n{at}").into(),
        code: "gpu",
        detail: format!("{at} left").into(),
    };
    let many = BlockedNodes::new((0..25).chain([3, 24]).map(lacks));
    let counted: Vec<usize> = many.kinds().map(|(_, count)| count).collect();
    assert_eq!(counted, [1, 1, 1, 2, 1, 1, 1, 1, 1, 1]);
    assert_eq!((many.first().len(), many.all_kinds(), many.counts()["gpu"]), (10, 25, 27));
}

#[test]
fn a_pod_that_has_ended_requests_nothing() {
    let pod = |name: &str, spec: &str, status: &str| {
        object("Pod", name, &format!("{{spec: {{{spec}}}, status: {{{status}}}}}"))
    };
    let on_n = "nodeName: n, containers: [{resources: {requests: {cpu: 2}}}]";
    let pods = [
        pod("new", on_n, ""),
        pod("runs", on_n, "phase: Running"),
        pod("done", on_n, "phase: Succeeded"),
        pod("failed", on_n, "phase: Failed"),
        pod("unplaced", "containers: [{resources: {requests: {cpu: 2}}}]", "phase: Pending"),
    ];
    let found: Vec<(String, i64)> = running(&pods)
        .into_iter()
        .map(|(node, shape)| (node.to_string(), shape.amount("cpu")))
        .collect();
    assert_eq!(found, [("n".to_owned(), 2), ("n".to_owned(), 2)]);
}
