//! Which nodes a pod fits on.

use super::{
    Bench, asks, constraints, in_namespace, labeled, machine, near, node, required, spread,
    template,
};
use crate::cluster::schedule::scheduler::{Options, Scheduler};
use crate::cluster::schedule::{Answer, Reason, labels};

const HOST: &str = "kubernetes.io/hostname";

#[test]
fn node_filters_check_cordon_taints_labels_and_names() {
    let node_affinity = |terms: &str| {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
             {{nodeSelectorTerms: [{terms}]}}}}}}"
        )
    };
    let named = |operator: &str, name: &str| {
        format!("{{matchFields: [{{key: metadata.name, operator: {operator}, values: [{name}]}}]}}")
    };
    let pool = |operator: &str| {
        format!("{{matchExpressions: [{{key: pool, operator: {operator}, values: [x]}}]}}")
    };
    let toleration = |more: &str| format!("tolerations: [{{{more}}}]");
    let mut bench = Bench::new([
        machine("a", "pool: x", "", ""),
        machine("b", "pool: y", "unschedulable: true", ""),
        machine("c", "pool: y, n: '5'", "taints: [{key: k, value: v, effect: NoSchedule}]", ""),
        machine("d", "n: '7'", "taints: [{key: l, effect: NoExecute}]", ""),
        machine("e", "pool: x", "taints: [{key: k, effect: PreferNoSchedule}]", ""),
    ]);
    for (spec, answers) in [
        (String::new(), ".UTT."),
        (toleration("operator: Exists"), "....."),
        (toleration("key: k, operator: Exists"), ".U.T."),
        (toleration("key: k, value: v"), ".U.T."),
        (toleration("key: k, value: w"), ".UTT."),
        (toleration("key: k, value: v, effect: NoExecute"), ".UTT."),
        (toleration("key: node.kubernetes.io/unschedulable, operator: Exists"), "..TT."),
        ("nodeSelector: {pool: x}".to_owned(), ".UTT."),
        ("nodeSelector: {pool: y}".to_owned(), "NUTTN"),
        (format!("{}, nodeSelector: {{pool: x}}", toleration("operator: Exists")), ".NNN."),
        (format!("{}, nodeSelector: {{pool: x, n: '5'}}", toleration("operator: Exists")), "NNNNN"),
        (node_affinity(&pool("In")), ".UTT."),
        (node_affinity(&pool("NotIn")), "NUTTN"),
        (node_affinity(""), "NUTTN"),
        (node_affinity("{}"), "NUTTN"),
        (format!("{}, {}", toleration("operator: Exists"), node_affinity(&pool("NotIn"))), "N...N"),
        // Any term is enough; an empty one matches nothing.
        (node_affinity(&[named("In", "e"), "{}".to_owned()].join(", ")), "NUTT."),
        (node_affinity(&[named("In", "e"), named("In", "a")].join(", ")), ".OOO."),
        (node_affinity(&named("In", "a")), ".OOOO"),
        (node_affinity(&named("NotIn", "a")), "NUTT."),
        (
            format!(
                "{}, {}",
                toleration("operator: Exists"),
                node_affinity("{matchExpressions: [{key: n, operator: Gt, values: ['5']}]}")
            ),
            "NNN.N",
        ),
        (
            format!(
                "{}, {}",
                toleration("operator: Exists"),
                node_affinity("{matchExpressions: [{key: n, operator: Lt, values: ['7']}]}")
            ),
            "NN.NN",
        ),
    ] {
        assert_eq!(bench.answers("", &spec), answers, "{spec}");
    }
    let both = format!(
        "{{matchFields: [{}, {}]}}",
        "{key: metadata.name, operator: In, values: [a]}",
        "{key: metadata.name, operator: In, values: [e]}"
    );
    assert_eq!(
        bench.schedule("", &node_affinity(&both)),
        "0/5 nodes are available: pod affinity terms conflict. not found"
    );
    // Rejections that evictions could resolve are marked.
    let curable = |answers: &[Answer]| answers.iter().map(|one| one.curable).collect::<Vec<_>>();
    let answers = bench.examine(template("", ""));
    assert_eq!(curable(&answers), [false; 5]);
}

#[test]
fn filters_check_host_ports_resources_and_pod_count() {
    let ports = |ports: &str| format!("containers: [{{ports: [{ports}]}}]");
    let mut bench = Bench::new([
        machine("a", "", "", "allocatable: {cpu: 4, memory: 8Gi, nvidia.com/gpu: 2, pods: 2}"),
        machine("b", "", "", "allocatable: {cpu: 8, memory: 4Gi, pods: 1}"),
        machine("c", "", "", "allocatable: {cpu: 2}"),
    ]);
    let held = format!("hostNetwork: true, {}", ports("{containerPort: 80}"));
    bench.run("", &held, "a");
    bench.run("", &ports("{hostPort: 81, hostIP: 10.0.0.1, protocol: UDP}"), "c");
    for (spec, answers) in [
        (asks("cpu: 4"), "..I"),
        (asks("cpu: 4001m"), "I.I"),
        (asks("memory: 4Gi"), "..I"),
        (asks("memory: 4097Mi"), ".II"),
        (asks("nvidia.com/gpu: 2"), ".II"),
        (asks("nvidia.com/gpu: 3"), "III"),
        (asks("example.com/none: 1"), "III"),
        (asks("example.com/none: 0"), "..."),
        (ports("{hostPort: 80}"), "P.."),
        (ports("{hostPort: 80, protocol: UDP}"), "..."),
        (ports("{hostPort: 80, hostIP: 10.0.0.2}"), "P.."),
        (ports("{containerPort: 80}"), "..."),
        (ports("{hostPort: 81, protocol: UDP}"), "..P"),
        (ports("{hostPort: 81, hostIP: 10.0.0.1, protocol: UDP}"), "..P"),
        (ports("{hostPort: 81, hostIP: 10.0.0.2, protocol: UDP}"), "..."),
        (ports("{hostPort: 81, hostIP: 10.0.0.1}"), "..."),
    ] {
        assert_eq!(bench.answers("", &spec), answers, "{spec}");
    }
    let full = bench.run("", &asks("cpu: 3, nvidia.com/gpu: 1"), "a");
    assert_eq!(bench.answers("", ""), "M..");
    assert_eq!(bench.answers("", &asks("cpu: 2, nvidia.com/gpu: 2")), "III");
    let spec = asks("cpu: 2, nvidia.com/gpu: 2");
    let answers = bench.examine(template("", &spec));
    let reasons: Vec<String> = answers[0].reasons.iter().map(ToString::to_string).collect();
    assert_eq!(reasons, ["Insufficient cpu", "Insufficient nvidia.com/gpu", "Too many pods"]);
    let lacks: Vec<(&str, i64, i64, i64)> = answers[0]
        .lacks
        .iter()
        .map(|lack| (lack.resource.as_str(), lack.requested, lack.left, lack.allocatable))
        .collect();
    assert_eq!(lacks, [("cpu", 2000, 1000, 4000), ("nvidia.com/gpu", 2, 1, 2)]);
    assert_eq!(bench.scheduler.room(bench.id("a"), "cpu"), (4000, 3000));
    assert_eq!(bench.scheduler.room(bench.id("a"), "example.com/nothing"), (0, 0));
    // Evicting pods helps where the node is large enough.
    let curable: Vec<bool> = answers.iter().map(|one| one.curable).collect();
    assert_eq!(curable, [true, false, false]);
    bench.scheduler.finish(full);
    assert_eq!(bench.answers("", &asks("cpu: 4, nvidia.com/gpu: 2")), ".II");
    assert_eq!(bench.scheduler.room(bench.id("a"), "cpu"), (4000, 0));
}

/// Zones x and y, and a node without a zone.
fn zones() -> Bench {
    labeled(&[("a", "zone: x"), ("b", "zone: x"), ("c", "zone: y"), ("d", "")])
}

#[test]
fn required_affinity_finds_its_pods_by_domain_and_namespace() {
    let mut bench = zones();
    bench.run("app: db", "", "a");
    let other = bench.take(in_namespace("other", "app: db", ""));
    bench.scheduler.run(other, "c", None).unwrap();
    bench.run("app: cache, tier: x", "", "c");
    let affinity = |terms: &[String]| required("podAffinity", terms);
    let of = |more: &str| {
        format!("{{topologyKey: zone, labelSelector: {{matchLabels: {{app: db}}}}, {more}}}")
    };
    let keyed = |key: &str, field: &str| {
        format!("{{topologyKey: {key}, labelSelector: {{}}, {field}: [tier]}}")
    };
    for (name, terms, answers) in [
        ("", vec![near("db", "zone")], "..AA"),
        ("", vec![near("db", HOST)], ".AAA"),
        ("", vec![near("cache", "zone")], "AA.A"),
        ("", vec![near("db", "zone"), near("cache", "zone")], "AAAA"),
        ("", vec![of("namespaces: [other]")], "AA.A"),
        ("", vec![of("namespaces: [other, ml]")], "...A"),
        ("", vec![of("namespaceSelector: {}")], "...A"),
        (
            "",
            vec![of("namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}")],
            "AA.A",
        ),
        ("", vec![of("namespaceSelector: {matchLabels: {team: z}}")], "AAAA"),
        // The first pod of its kind may run on any node with the label, unless pods of that kind
        // run.
        ("app: new", vec![near("new", "zone")], "...A"),
        ("app: db", vec![near("db", "zone")], "..AA"),
        ("app: new", vec![near("other", "zone")], "AAAA"),
        ("app: new", vec![near("new", "zone"), near("db", "zone")], "AAAA"),
        ("tier: x", vec![keyed("zone", "matchLabelKeys")], "AA.A"),
        ("tier: x", vec![keyed("zone", "mismatchLabelKeys")], "..AA"),
        ("tier: x", vec![keyed("zone", "no")], "...A"),
    ] {
        assert_eq!(bench.answers(name, &affinity(&terms)), answers, "{name}: {terms:?}");
    }
}

#[test]
fn namespaces_are_selected_by_their_labels() {
    let labels = labels(Some(&node("{team: z}")));
    let options = Options {
        namespaces: [("other".into(), labels)].into_iter().collect(),
        ..Options::default()
    };
    let nodes = [machine("a", "zone: x", "", ""), machine("b", "zone: y", "", "")];
    let mut bench = Bench { scheduler: Scheduler::new(nodes, &options) };
    let other = bench.take(in_namespace("other", "app: db", ""));
    bench.scheduler.run(other, "a", None).unwrap();
    bench.run("app: db", "", "b");
    let term = |selector: &str| {
        let term = format!(
            "{{topologyKey: zone, labelSelector: {{matchLabels: {{app: db}}}}, \
             namespaceSelector: {{matchLabels: {{{selector}}}}}}}"
        );
        required("podAffinity", &[term])
    };
    assert_eq!(bench.answers("", &term("team: z")), ".A");
    assert_eq!(bench.answers("", &term("team: w")), "AA");
    assert_eq!(bench.answers("", &term("kubernetes.io/metadata.name: ml")), "A.");
}

#[test]
fn anti_affinity_keeps_both_sides_apart() {
    let mut bench = zones();
    let lonely = required("podAntiAffinity", &[near("web", "zone")]);
    let guard = bench.run("app: db", &lonely, "c");
    bench.run("app: web", "", "a");
    let anti = |app: &str, key: &str| required("podAntiAffinity", &[near(app, key)]);
    for (name, spec, answers) in [
        ("app: web", String::new(), "..E."),
        ("app: x", String::new(), "...."),
        ("", anti("web", HOST), "B..."),
        ("", anti("web", "zone"), "BB.."),
        ("", anti("db", "zone"), "..B."),
        ("", anti("none", "zone"), "...."),
        ("app: web", anti("web", "zone"), "BBE."),
    ] {
        assert_eq!(bench.answers(name, &spec), answers, "{name}: {spec}");
    }
    bench.scheduler.delete(guard);
    assert_eq!(bench.answers("app: web", ""), "..E.", "it holds until it is gone");
    bench.scheduler.finish(guard);
    assert_eq!(bench.answers("app: web", ""), "....");
    assert_eq!(bench.answers("", &anti("db", "zone")), "....", "it is nobody's neighbor");
}

#[test]
fn hard_spread_constraints_ignore_ineligible_domains() {
    let mut bench = Bench::new([
        machine("a", "zone: x, pool: p", "", ""),
        machine("b", "zone: y, pool: p", "", ""),
        machine("c", "zone: z, pool: q", "", ""),
        machine("d", "pool: p", "", ""),
        machine("e", "zone: w, pool: p", "taints: [{key: k, effect: NoSchedule}]", ""),
    ]);
    let mut pods = vec![bench.run("app: s", "", "a"), bench.run("app: s", "", "a")];
    pods.push(bench.run("app: s", "", "b"));
    bench.run("app: other", "", "b");
    let elsewhere = bench.take(in_namespace("other", "app: s", ""));
    bench.scheduler.run(elsewhere, "b", None).unwrap();
    for (name, selector, constraint, answers) in [
        // Zones x, y, z and w have 2, 1, 0 and 0.
        ("app: s", "", spread("zone", 1, ""), "SS.LT"),
        ("app: s", "", spread("zone", 2, ""), "S..LT"),
        ("app: s", "", spread("zone", 3, ""), "...LT"),
        ("", "", spread("zone", 1, ""), "S..LT"),
        ("", "", spread("zone", 2, ""), "...LT"),
        ("app: s", "", spread("zone", 1, "whenUnsatisfiable: ScheduleAnyway"), "....T"),
        // Only selected nodes are domains: x and y, and the tainted w.
        ("app: s", "nodeSelector: {pool: p}, ", spread("zone", 1, "nodeTaintsPolicy: Honor"), "S.NLT"),
        ("app: s", "nodeSelector: {pool: p}, ", spread("zone", 1, ""), "SSNLT"),
        (
            "app: s",
            "nodeSelector: {pool: p}, ",
            spread("zone", 1, "nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore"),
            "SSNLT",
        ),
        // With fewer domains than requested the least is 0.
        (
            "app: s",
            "nodeSelector: {pool: p}, ",
            spread("zone", 1, "nodeTaintsPolicy: Honor, minDomains: 3"),
            "SSNLT",
        ),
        (
            "app: s",
            "nodeSelector: {pool: p}, ",
            spread("zone", 1, "nodeTaintsPolicy: Honor, minDomains: 2"),
            "S.NLT",
        ),
        ("app: s", "", "{maxSkew: 1, topologyKey: zone, labelSelector: {}}".to_owned(), "...LT"),
        ("app: s", "", "{maxSkew: 1, topologyKey: zone}".to_owned(), "...LT"),
        (
            "app: s, tier: x",
            "",
            "{maxSkew: 1, topologyKey: zone, labelSelector: {matchLabels: {app: s}}, matchLabelKeys: [tier]}"
                .to_owned(),
            "...LT",
        ),
    ] {
        let spec = format!("{selector}{}", constraints(std::slice::from_ref(&constraint)));
        assert_eq!(bench.answers(name, &spec), answers, "{name}: {spec}");
    }
    // A node without the labels of all constraints counts for none.
    let both = constraints(&[spread("zone", 1, ""), spread("rack", 1, "")]);
    assert_eq!(bench.answers("app: s", &both), "LLLLT");
    // Terminating pods are not counted, and not subtracted again when they are deleted.
    let two = constraints(&[spread("zone", 2, "")]);
    pods.push(bench.run("app: s", "", "a"));
    bench.scheduler.delete(pods[0]);
    assert_eq!(bench.answers("app: s", &two), "S..LT");
    bench.scheduler.finish(pods[0]);
    assert_eq!(bench.answers("app: s", &two), "S..LT");
    bench.scheduler.delete(pods[1]);
    assert_eq!(bench.answers("app: s", &two), "...LT");
}

#[test]
fn one_domain_suffices_unless_min_domains_is_higher() {
    for (more, answers) in [("", "."), ("minDomains: 1", "."), ("minDomains: 2", "S")] {
        let mut bench = labeled(&[("a", "zone: x")]);
        bench.run("app: s", "", "a");
        let spec = constraints(&[spread("zone", 1, more)]);
        assert_eq!(bench.answers("app: s", &spec), answers, "{more}");
        // The default of maxSkew is 1.
        assert_eq!(bench.answers("app: s", &spec.replace("maxSkew: 1, ", "")), answers, "{more}");
    }
}

#[test]
fn every_reason_has_the_filter_that_names_it() {
    for (reason, filter) in [
        (Reason::Unschedulable, "NodeUnschedulable"),
        (Reason::Taint, "TaintToleration"),
        (Reason::NodeAffinity, "NodeAffinity"),
        (Reason::OtherNodes, "NodeAffinity"),
        (Reason::HostPort, "NodePorts"),
        (Reason::TooManyPods, "NodeResourcesFit"),
        (Reason::Insufficient("cpu".into()), "NodeResourcesFit"),
        (Reason::Spread, "PodTopologySpread"),
        (Reason::SpreadLabel, "PodTopologySpread"),
        (Reason::PodAffinity, "InterPodAffinity"),
        (Reason::PodAntiAffinity, "InterPodAffinity"),
        (Reason::ExistingAntiAffinity, "InterPodAffinity"),
    ] {
        assert_eq!(Reason::FILTERS[reason.filter()], filter, "{reason}");
    }
}

#[test]
fn templates_with_equal_filter_results_share_a_class() {
    let mut bench = zones();
    let plain = bench.take(template("app: a", ""));
    let alike = |bench: &mut Bench, labels: &str, spec: &str| {
        let other = bench.take(template(labels, spec));
        bench.scheduler.alike(plain) == bench.scheduler.alike(other)
    };
    for (labels, spec, expected) in [
        ("app: a", String::new(), true),
        ("app: b", String::new(), true),
        ("app: a", asks("cpu: 1"), false),
        ("app: a", "nodeSelector: {pool: p}".to_owned(), false),
        ("app: a", "containers: [{ports: [{hostPort: 1}]}]".to_owned(), false),
        ("app: a", constraints(&[spread("zone", 1, "")]), false),
    ] {
        assert_eq!(alike(&mut bench, labels, &spec), expected, "{labels}: {spec}");
    }
    // Once pods have terms, the labels of others matter.
    bench.run("app: x", &required("podAntiAffinity", &[near("a", "zone")]), "a");
    assert!(alike(&mut bench, "app: a", ""));
    assert!(!alike(&mut bench, "app: b", ""));
}
