//! Inputs that are long in one way, each at two sizes: the table of docs/limits.md.
//!
//! `cargo bench --bench shapes [NAME]`. Every measurement is a process of its own: CPU time and the
//! most memory at once, by /proc, so that it needs Linux. Growth is that of the CPU time when the
//! input is twice as long.

#![expect(clippy::disallowed_methods, reason = "a benchmark writes its input")]
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use ome::cli::{self, Io};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// An input that is as long as asked, and what is done with it.
struct Shape {
    name: &'static str,
    /// The larger of the two sizes.
    size: usize,
    files: fn(usize) -> Vec<(&'static str, String)>,
    verb: &'static [&'static str],
}

const MODEL: &str = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec: {modelFormat: {name: safetensors}, modelFramework: {name: transformers, version: 4.51.0}, modelArchitecture: LlamaForCausalLM, modelParameterSize: 8B, storage: {storageUri: 'hf://a/b'}}\n---\n";

/// So many texts, each made from its number.
fn many(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect()
}

fn runtime(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {{name: {name}}}\nspec:\n  supportedModelFormats:\n  - {{modelFormat: {{name: safetensors}}, modelFramework: {{name: transformers, version: 4.51.0}}, modelArchitecture: LlamaForCausalLM, autoSelect: true, priority: 1}}\n{spec}---\n"
    )
}

fn service(name: &str, metadata: &str, engine: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: {name}\n  namespace: b\n{metadata}spec:\n  model: {{name: m}}\n  runtime: {{name: r}}\n  engine:\n    minReplicas: 1\n{engine}---\n"
    )
}

/// A service over a runtime whose runners both have this.
fn merged(lower: &str, upper: &str) -> String {
    let runner =
        |lines: &str| format!("runner:\n      name: ome-container\n      image: i\n{lines}");
    let spec = format!("  engineConfig:\n    {}", runner(lower));
    MODEL.to_owned() + &runtime("r", &spec) + &service("a", "", &format!("    {}", runner(upper)))
}

fn variables(count: usize, value: &str) -> String {
    let lines = many(count, |at| format!("      - {{name: V{at}, value: '{value}{at}'}}\n"));
    format!("      env:\n{lines}")
}

fn ports(count: usize) -> String {
    let lines = many(count, |at| format!("      - {{name: p{at}, containerPort: {}}}\n", at + 1));
    format!("      ports:\n{lines}")
}

fn flags(count: usize, value: &str) -> String {
    format!("      args:\n{}", many(count, |at| format!("      - --flag{at}={value}\n")))
}

fn labels(count: usize, value: &str) -> String {
    format!("  labels:\n{}", many(count, |at| format!("    l{at}: {value}{at}\n")))
}

fn node(at: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: node{at}, labels: {{gpu: h100}}}}\nstatus: {{allocatable: {{nvidia.com/gpu: '8', cpu: '64', memory: 512Gi}}}}\n---\n"
    )
}

fn class(at: usize, selector: &str) -> String {
    format!(
        "apiVersion: ome.io/v1beta1\nkind: AcceleratorClass\nmetadata: {{name: class{at}}}\nspec: {{vendor: nvidia, model: H100, discovery: {{nodeSelector: {{{selector}}}}}, capabilities: {{memoryGB: 80Gi}}, resources: [{{name: nvidia.com/gpu, quantity: '1'}}]}}\n---\n"
    )
}

fn serving(groups: usize, image: &str) -> String {
    format!(
        "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: s, namespace: b}}\nspec:\n  schedulerName: volcano\n  replicas: {groups}\n  template:\n    roles:\n    - name: decode\n      replicas: 1\n      workerReplicas: 0\n      entryTemplate: {{spec: {{containers: [{{name: c, image: '{image}'}}]}}}}\n"
    )
}

const SHAPES: [Shape; 24] = [
    Shape {
        name: "runtimes of one priority, `validate`",
        size: 16_000,
        files: |n| vec![("new.yaml", many(n, |at| runtime(&format!("r{at}"), "")))],
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "classes of one selector and as many nodes, `validate`",
        size: 8_000,
        files: |n| vec![("new.yaml", many(n, |at| class(at, "gpu: h100") + &node(at)))],
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "classes of one selector and as many nodes, `plan` of a service",
        size: 2_000,
        files: |n| {
            let all = many(n, |at| class(at, "gpu: h100") + &node(at));
            vec![("new.yaml", merged("", "") + &all)]
        },
        verb: &["plan", "-f", "new.yaml"],
    },
    Shape {
        name: "services over one runtime, `plan`",
        size: 10_000,
        files: |n| {
            let services = many(n, |at| service(&format!("a{at}"), "", ""));
            vec![("new.yaml", MODEL.to_owned() + &runtime("r", "") + &services)]
        },
        verb: &["plan", "-f", "new.yaml", "--max-file-size", "64Mi", "--max-nodes", "9000000"],
    },
    Shape {
        name: "documents that nothing is known of, `validate`",
        size: 40_000,
        files: |n| {
            let map = |at| {
                format!(
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}, namespace: b}}\n---\n"
                )
            };
            vec![("new.yaml", many(n, map))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "groups of a ModelServing, `render --expand`",
        size: 90_000,
        files: |n| vec![("new.yaml", serving(n, "a"))],
        verb: &["render", "-f", "new.yaml", "--expand"],
    },
    Shape {
        name: "groups of a ModelServing, one at a time, `rollout`",
        size: 8_000,
        files: |n| vec![("new.yaml", serving(n, "b")), ("old.yaml", serving(n, "a"))],
        verb: &["rollout", "s", "-f", "new.yaml", "--from", "old.yaml"],
    },
    Shape {
        name: "labels that changed, `diff`",
        size: 20_000,
        files: |n| {
            let of = |value: &str| merged("", "") + &service("c", &labels(n, value), "");
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "labels on one line, `diff`",
        size: 20_000,
        files: |n| {
            let of = |value: &str| {
                let all = many(n, |at| format!("l{at}: {value}{at}, "));
                merged("", "") + &service("c", &format!("  labels: {{{all}}}\n"), "")
            };
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "variables that changed, `diff`",
        size: 20_000,
        files: |n| {
            let of = |value: &str| merged("", &variables(n, value));
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "variables of service and runtime, `render`",
        size: 60_000,
        files: |n| vec![("new.yaml", merged(&variables(n, "x"), &variables(n, "y")))],
        verb: &["render", "-f", "new.yaml"],
    },
    Shape {
        name: "variables of service and runtime, `render --annotate`",
        size: 20_000,
        files: |n| vec![("new.yaml", merged(&variables(n, "x"), &variables(n, "y")))],
        verb: &["render", "-f", "new.yaml", "--annotate"],
    },
    Shape {
        name: "variables of service and runtime, `explain --merge`",
        size: 20_000,
        files: |n| vec![("new.yaml", merged(&variables(n, "x"), &variables(n, "y")))],
        verb: &["explain", "-f", "new.yaml", "--merge"],
    },
    Shape {
        name: "ports of service and runtime, `validate`",
        size: 48_000,
        files: |n| vec![("new.yaml", merged(&ports(n), &ports(n)))],
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "ports of service and runtime, `render`",
        size: 48_000,
        files: |n| vec![("new.yaml", merged(&ports(n), &ports(n)))],
        verb: &["render", "-f", "new.yaml"],
    },
    Shape {
        name: "flags of service and runtime, `render`",
        size: 60_000,
        files: |n| vec![("new.yaml", merged(&flags(n, "x"), &flags(n, "y")))],
        verb: &["render", "-f", "new.yaml"],
    },
    Shape {
        name: "mounts without volumes, `validate`",
        size: 32_000,
        files: |n| {
            let mounts = many(n, |at| format!("      - {{name: volume{at}, mountPath: /m{at}}}\n"));
            vec![("new.yaml", merged("", &format!("      volumeMounts:\n{mounts}")))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "flags that changed, `diff`",
        size: 16_000,
        files: |n| {
            let of = |value: &str| merged(&flags(n, value), "");
            vec![("new.yaml", of("y")), ("old.yaml", of("x"))]
        },
        verb: &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    },
    Shape {
        name: "formats of a runtime without a name, `validate`",
        size: 16_000,
        files: |n| {
            let format = |at| format!("  - {{modelFormat: {{name: f{at}}}, autoSelect: true}}\n");
            vec![("new.yaml", runtime("r", &many(n, format)))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "ambiguous scalars on one line, `validate`",
        size: 20_000,
        files: |n| {
            let all = many(n, |at| format!("a{at}: on, "));
            let annotations = format!("  annotations: {{{all}}}\n");
            vec![("new.yaml", merged("", "") + &service("c", &annotations, ""))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "findings, `validate -o html`",
        size: 8_000,
        files: |n| {
            let all = many(n, |at| format!("    a{at}: on\n"));
            let annotations = format!("  annotations:\n{all}");
            vec![("new.yaml", merged("", "") + &service("c", &annotations, ""))]
        },
        verb: &["validate", "-f", "new.yaml", "-o", "html"],
    },
    Shape {
        name: "secrets in variables, `validate`",
        size: 16_000,
        files: |n| {
            let lines = many(n, |at| format!("      - {{name: V{at}_TOKEN, value: 'x{at}'}}\n"));
            vec![("new.yaml", merged("", &format!("      env:\n{lines}")))]
        },
        verb: &["validate", "-f", "new.yaml", "-o", "json"],
    },
    Shape {
        name: "fields that are not known, `validate`",
        size: 16_000,
        files: |n| {
            let fields = many(n, |at| format!("      zz{at}: 1\n"));
            vec![("new.yaml", merged("", &fields))]
        },
        verb: &["validate", "-f", "new.yaml"],
    },
    Shape {
        name: "nodes, `discover`",
        size: 20_000,
        files: |n| {
            let node = |at: usize| {
                node(at).replace(
                    "gpu: h100",
                    "nvidia.com/gpu.product: NVIDIA-L4, nvidia.com/gpu.memory: '23034'",
                )
            };
            vec![("new.yaml", many(n, node))]
        },
        verb: &["discover", "-f", "new.yaml", "--max-file-size", "64Mi", "--max-nodes", "9000000"],
    },
];

/// One run in this process, then what it took: milliseconds and MB.
fn one(arguments: Vec<OsString>) {
    let run = || {
        let (mut out, mut err) = (std::io::sink(), std::io::sink());
        cli::run(std::iter::once("ome".into()).chain(arguments), &mut Io::plain(&mut out, &mut err))
    };
    let code = run();
    let line = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    // After the name in parentheses: field 12 and 13 of what follows are ticks of 10 ms.
    let stat = line("/proc/self/stat");
    let ticks: u64 = stat
        .rsplit(')')
        .next()
        .into_iter()
        .flat_map(|rest| rest.split_whitespace().skip(11).take(2))
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum();
    let status = line("/proc/self/status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|rest| rest.split_whitespace().next()).unwrap_or("0");
    println!("{code} {} {peak}", ticks * 10);
}

/// Milliseconds and MB of a shape at a size, the least of some runs.
fn measure(shape: &Shape, size: usize, folder: &Path) -> (u64, u64) {
    for (name, text) in (shape.files)(size) {
        std::fs::write(folder.join(name), text).expect("a file can be written");
    }
    let own = std::env::current_exe().expect("a path");
    let runs = (0..3).map(|_| {
        let output = Command::new(&own)
            .arg("one")
            .args(shape.verb)
            .args(["--no-config", "--no-builtin"])
            .current_dir(folder)
            .output()
            .expect("the benchmark can be started");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let numbers: Vec<u64> =
            text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        let [code, time, memory] = numbers[..] else { panic!("{}: {output:?}", shape.name) };
        assert!(code < 3, "{}: it ended with {code}", shape.name);
        (time, memory / 1024)
    });
    runs.min().expect("three runs")
}

fn seconds(milliseconds: u64) -> f64 {
    f64::from(u32::try_from(milliseconds).unwrap_or(u32::MAX)) / 1000.0
}

fn main() {
    let mut arguments = std::env::args_os().skip(1).filter(|argument| argument != "--bench");
    let first = arguments.next();
    if first.as_ref().is_some_and(|first| first == "one") {
        return one(arguments.collect());
    }
    let wanted = first.map(|first| first.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = std::env::temp_dir().join(format!("ome-shapes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    println!("| input | number | CPU time | memory | growth when doubled |\n|---|---|---|---|---|");
    for shape in SHAPES.iter().filter(|shape| shape.name.contains(&wanted)) {
        let (half, whole) =
            (measure(shape, shape.size / 2, &folder), measure(shape, shape.size, &folder));
        println!(
            "| {} | {} | {:.2} s | {} MB | {:.1} |",
            shape.name,
            shape.size,
            seconds(whole.0),
            whole.1,
            seconds(whole.0) / seconds(half.0.max(10))
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
}
