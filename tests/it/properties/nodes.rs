//! Properties of the classes of any nodes.

use super::fleet::node;
use ome::internals::api::Semantics;
use ome::internals::exchange::class::Action;
use ome::internals::exchange::discover::{Discovered, Options, discover};
use ome::internals::report::discover::evidence;
use ome::internals::yaml::{Node, write};
use ome::workspace::World;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// Labels about accelerators, with values that tools write and some that no tool writes.
const LABELS: &[(&str, &[&str])] = &[
    (
        "nvidia.com/gpu.product",
        &[
            "NVIDIA-H100-80GB-HBM3",
            "A100-SXM4-40GB",
            "NVIDIA-A100-SXM4-40GB",
            "Tesla-T4",
            "NVIDIA-L4-SHARED",
            "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
            "CARD-1",
            "---",
            "",
        ],
    ),
    ("nvidia.com/gpu.memory", &["81559", "40960", "15360", "23034", "80Gi", "0", "lots"]),
    ("nvidia.com/gpu.compute.major", &["9", "8", "x"]),
    ("nvidia.com/gpu.compute.minor", &["0", "9"]),
    ("nvidia.com/gpu.family", &["hopper", "undefined"]),
    ("nvidia.com/gpu.count", &["8", "1"]),
    ("nvidia.com/gpu.sharing-strategy", &["none", "time-slicing"]),
    ("nvidia.com/mig.capable", &["true", "false"]),
    ("nvidia.com/mig-3g.20gb.count", &["2"]),
    ("nvidia.com/mig-3g.20gb.product", &["NVIDIA-A100-SXM4-40GB-MIG-3g.20gb"]),
    ("amd.com/gpu.product-name", &["AMD_Instinct_MI300X_OAM", "MI250X"]),
    ("amd.com/gpu.product-name.AMD_Instinct_MI210", &["2"]),
    ("amd.com/gpu.product", &["MI250X"]),
    ("amd.com/gpu.device-id", &["74a1", "ffff"]),
    ("amd.com/gpu.vram", &["192G", "64G", "G"]),
    ("gpu.intel.com/product", &["Max_1550", "Flex_170"]),
    ("feature.node.kubernetes.io/pci-0302_10de_2330.present", &["true", "false"]),
    ("karpenter.k8s.aws/instance-gpu-name", &["a100", "h100", "x"]),
    ("karpenter.k8s.aws/instance-gpu-memory", &["81920", "40960"]),
    ("cloud.google.com/gke-accelerator", &["nvidia-l4", "nvidia-tesla-t4", "other"]),
    ("node.kubernetes.io/instance-type", &["p5.48xlarge", "BM.GPU4.8", "m5.large"]),
    ("kubernetes.io/hostname", &["host-1", "host-2"]),
];

const RESOURCES: &[&str] = &[
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/mig-3g.20gb",
    "nvidia.com/mig-1g.5gb",
    "amd.com/gpu",
    "gpu.intel.com/i915",
    "habana.ai/gaudi",
    "cpu",
];

fn labels() -> impl Strategy<Value = Map<String, Value>> {
    let one = select(LABELS).prop_flat_map(|(key, values)| {
        select(values).prop_map(move |value| (key.to_owned(), Value::from(value)))
    });
    prop::collection::vec(one, 0..7).prop_map(|pairs| pairs.into_iter().collect())
}

fn resources() -> impl Strategy<Value = Map<String, Value>> {
    let one = (select(RESOURCES), 0..9_u8)
        .prop_map(|(name, count)| (name.to_owned(), Value::from(count.to_string())));
    prop::collection::vec(one, 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

/// Nodes of their own names, shown as the text they make.
#[derive(Clone)]
struct Nodes(Vec<Node>);

impl std::fmt::Debug for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text(&self.0.iter().collect::<Vec<_>>()))
    }
}

fn text(documents: &[&Node]) -> String {
    let mut text = String::new();
    for document in documents {
        text.push_str("---\n");
        write(&mut text, document);
    }
    text
}

/// Labels and resources.
type Labeled = (Map<String, Value>, Map<String, Value>);

fn nodes() -> impl Strategy<Value = Nodes> {
    prop::collection::vec((labels(), resources()), 1..7).prop_map(|drawn| {
        let object = |(index, drawn): (usize, Labeled)| {
            let (labels, resources) = drawn;
            node(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{index}"), "labels": labels}, "status": {"capacity": resources}}))
        };
        Nodes(drawn.into_iter().enumerate().map(object).collect())
    })
}

fn discovered(documents: &[&Node], options: Options) -> (Discovered, World) {
    let world = super::read(&text(documents), options.semantics);
    (discover(&world.catalog, &world.sources, options).value, world)
}

/// The findings about each class, without positions in texts.
fn told(discovered: &Discovered, world: &World) -> Vec<String> {
    let classes = discovered.classes.iter().map(|class| {
        format!(
            "{} {} {} {:?} {:?} {:?}",
            class.name,
            class.action.as_str(),
            class.object.to_json(),
            class.nodes,
            evidence(&class.facts, &world.sources),
            class.status
        )
    });
    classes.chain([format!("{:?} {:?}", discovered.skipped, discovered.no_tier)]).collect()
}

fn holds(property: impl Fn(&[Node], usize, Options) -> Result<(), TestCaseError>) {
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { 256 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let options = (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(measured, nominal_memory, documented)| Options {
            measured,
            nominal_memory,
            semantics: if documented { Semantics::Documented } else { Semantics::Controller },
        },
    );
    if let Err(failure) = runner
        .run(&(nodes(), 0..1000_usize, options), |(nodes, number, options)| {
            property(&nodes.0, number, options)
        })
    {
        panic!("{failure}");
    }
}

/// OEP-0003, Auto-Discovery Examples: generated classes have the facts of the nodes, and match the
/// nodes they were generated from.
#[test]
fn discovering_again_leaves_the_classes_unchanged() {
    holds(|nodes, _, options| {
        let documents: Vec<&Node> = nodes.iter().collect();
        let (first, _) = discovered(&documents, options);
        prop_assert!(first.classes.iter().all(|class| class.action == Action::Create));
        let classes: Vec<&Node> = first.classes.iter().map(|class| &class.object).collect();
        let (second, _) = discovered(&[&documents[..], &classes[..]].concat(), options);
        prop_assert_eq!(second.classes.len(), first.classes.len());
        for (before, after) in first.classes.iter().zip(&second.classes) {
            prop_assert_eq!(
                (&after.name, after.action),
                (&before.name, Action::Unchanged),
                "{:?}",
                after.changes
            );
            prop_assert_eq!(
                (&after.nodes, &after.status, &after.object),
                (&before.nodes, &before.status, &before.object)
            );
        }
        prop_assert_eq!((second.skipped, second.no_tier), (first.skipped, first.no_tier));
        Ok(())
    });
}

/// OEP-0003, Auto-Discovery Examples; docs/decisions.md#discovery: the first node is no other than
/// the last.
#[test]
fn discovered_classes_do_not_depend_on_node_order() {
    holds(|nodes, number, options| {
        let documents: Vec<&Node> = nodes.iter().collect();
        let (first, world) = discovered(&documents, options);
        let mut turned: Vec<&Node> = documents.iter().rev().copied().collect();
        turned.rotate_left(number % documents.len());
        let (second, other) = discovered(&turned, options);
        prop_assert_eq!(told(&first, &world), told(&second, &other));
        Ok(())
    });
}

/// Every node is in a class or skipped; every class has a node.
#[test]
fn every_node_is_in_a_class_or_skipped() {
    holds(|nodes, _, options| {
        let documents: Vec<&Node> = nodes.iter().collect();
        let (found, _) = discovered(&documents, options);
        for document in nodes {
            let name =
                document.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
            let skipped = found.skipped.iter().any(|skipped| skipped.node == name);
            let taken =
                found.classes.iter().any(|class| class.nodes.iter().any(|node| node == name));
            // A class may take a node it was not made of, when both have its label.
            prop_assert!(skipped || taken, "{name}");
        }
        prop_assert!(
            found.classes.iter().all(|class| !class.nodes.is_empty() && class.name.len() <= 63)
        );
        Ok(())
    });
}
