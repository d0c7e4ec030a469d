//! The limits on memory, threads and time of docs/limits.md.

use super::process::{Call, Done, Folder, binary, in_directory, run};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

const QUICKSTART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/quickstart");

fn ome(directory: &Path, args: &[&str], env: &[(&str, &str)]) -> Done {
    let env: BTreeMap<String, String> =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let time = Duration::from_mins(1);
    run(&Call { args, stdin: "", directory, env: &env, time }).expect("it ends within a minute")
}

#[test]
fn thread_count_is_capped_at_four_per_core() {
    let folder = Folder::new(&[]);
    let plan = ["plan", "-q", "-f", QUICKSTART];
    let own = ome(folder.path(), &plan, &[]);
    assert!(own.stderr.is_empty(), "{own:?}");
    let many = ome(folder.path(), &[&plan[..], &["--jobs", "100000"]].concat(), &[]);
    let rayon = ome(folder.path(), &plan, &[("RAYON_NUM_THREADS", "100000")]);
    for done in [many, rayon] {
        assert!(
            done.stderr.starts_with("note: ") && done.stderr.contains("not 100000"),
            "{done:?}"
        );
        assert_eq!((done.exit, &done.stdout), (own.exit, &own.stdout));
    }
}

#[cfg(unix)]
#[test]
fn a_device_or_oversized_settings_file_is_refused() {
    let folder = Folder::new(&[]);
    let large = std::fs::File::create(folder.at("large.toml")).expect("a file");
    large.set_len(1_500_000_000).expect("a sparse file");
    for (file, why) in [("/dev/zero", "it is a device"), ("large.toml", "larger than 8 MiB")] {
        let done = ome(folder.path(), &["plan", "-f", QUICKSTART, "--config", file], &[]);
        assert_eq!(done.exit, Some(1), "{done:?}");
        assert!(done.stderr.contains(file) && done.stderr.contains(why), "{done:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_directory_is_walked_once_however_many_links_lead_to_it() {
    let folder = Folder::new(&[]);
    // Each level has two links to the next one: 2^30 paths to the last.
    for level in 0..30 {
        let at = folder.at(&format!("all/{level}"));
        std::fs::create_dir_all(&at).expect("a directory");
        for side in ["a", "b"] {
            std::os::unix::fs::symlink(format!("../{}", level + 1), at.join(side)).expect("a link");
        }
    }
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: d}\n";
    folder.write("all/30/c.yaml", map);
    let done = ome(folder.path(), &["validate", "-f", "all/0", "-f", "all"], &[]);
    assert_eq!(done.exit, Some(0), "{done:?}");
    assert!(done.stdout.starts_with("1 file:"), "{done:?}");
}

/// Where little memory may be reserved the answer is the same.
#[cfg(target_os = "linux")]
#[test]
fn a_run_needs_little_address_space() {
    let folder = Folder::new(&[]);
    let limited = |kilobytes: &str| {
        let line = format!("ulimit -v {kilobytes}; exec \"$0\" plan -f \"$1\" --jobs 2");
        let output = in_directory("sh", folder.path())
            .args(["-c", &line])
            .args([binary(), QUICKSTART.into()])
            .output()
            .expect("a shell");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let own = ome(folder.path(), &["plan", "-f", QUICKSTART], &[]);
    assert_eq!(limited("300000"), (own.exit, own.stdout));
}

/// The deepest nesting that may be permitted, through every kind of walk.
#[test]
fn the_deepest_nesting_fits_on_the_stack() {
    let deep = |open: &str, close: &str| format!("{}x{}", open.repeat(240), close.repeat(240));
    let service = |value: &str| {
        format!(
            "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: b}}\nspec:\n  engine:\n    affinity: {value}\n"
        )
    };
    let folder = Folder::new(&[
        ("old.yaml", &service(&deep("[", "]"))),
        ("new.yaml", &service(&deep("{a: ", "}"))),
    ]);
    for args in [
        &["validate", "-f", "old.yaml"][..],
        &["validate", "-f", "new.yaml", "-o", "json"],
        &["plan", "-f", "new.yaml", "-o", "json"],
        &["explain", "-f", "old.yaml"],
        &["render", "-f", "new.yaml"],
        &["diff", "-f", "new.yaml", "--base", "old.yaml"],
    ] {
        let done = ome(folder.path(), &[args, &["--max-depth", "250"]].concat(), &[]);
        assert!(matches!(done.exit, Some(0..=2)), "{args:?}: {done:?}");
    }
}

/// Groups that are under way are few, and only those are looked at and written down for each stage.
#[test]
fn a_rollout_of_thousands_of_groups_fits_in_memory() {
    let serving = |image: &str| {
        format!(
            "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: m, namespace: b}}\nspec:\n  schedulerName: volcano\n  replicas: 20000\n  template:\n    roles:\n    - name: decode\n      replicas: 1\n      workerReplicas: 0\n      entryTemplate: {{spec: {{containers: [{{name: c, image: '{image}'}}]}}}}\n"
        )
    };
    let folder = Folder::new(&[("old.yaml", &serving("a")), ("new.yaml", &serving("b"))]);
    let done = ome(folder.path(), &["rollout", "m", "-f", "new.yaml", "--from", "old.yaml"], &[]);
    assert_eq!(done.exit, Some(0), "{done:?}");
    assert_eq!(done.stdout.lines().filter(|line| line.contains(" updating")).count(), 20_001);
    assert!(done.stdout.contains("○×19998 ◐ ●"), "{}", &done.stdout[..2000]);
}

/// A list or a mapping twice as long takes not four times as long. The longest of the measured
/// steps took 5 s and more before; a second is far from both.
#[test]
fn long_lists_take_no_quadratic_time() {
    let many = |count: usize, entry: &dyn Fn(usize) -> String| {
        (0..count).fold(String::new(), |mut text, index| {
            let _ = write!(text, "{}, ", entry(index));
            text
        })
    };
    let count = 8_000;
    let runner = |image: &str| {
        let env = many(count, &|index| format!("{{name: V{index}, value: {image}{index}}}"));
        let ports =
            many(count, &|index| format!("{{name: p{index}, containerPort: {}}}", index + 1));
        let mounts = many(count, &|index| format!("{{name: v{index}, mountPath: /m{index}}}"));
        let args = many(count, &|index| format!("'--flag{index}={image}'"));
        format!(
            "{{name: ome-container, image: {image}, env: [{env}], ports: [{ports}], volumeMounts: [{mounts}], args: [{args}]}}"
        )
    };
    let input = |image: &str| {
        let volumes = many(count, &|index| format!("{{name: v{index}, emptyDir: {{}}}}"));
        let labels = many(count, &|index| format!("l{index}: {image}{index}"));
        format!(
            "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {{name: r}}\nspec: {{supportedModelFormats: [{{modelFormat: {{name: s}}}}], engineConfig: {{volumes: [{volumes}], runner: {}}}}}\n---\napiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a, namespace: b, labels: {{{labels}}}}}\nspec: {{runtime: {{name: r}}, engine: {{runner: {}}}}}\n",
            runner("z"),
            runner(image)
        )
    };
    let folder = Folder::new(&[("old.yaml", &input("x")), ("new.yaml", &input("y"))]);
    for args in [
        &["validate", "-f", "new.yaml"][..],
        &["render", "-f", "new.yaml"],
        &["diff", "-f", "new.yaml", "--base", "old.yaml"],
        &["explain", "-f", "new.yaml", "--merge", "-o", "json"],
    ] {
        let begin = Instant::now();
        let done = ome(folder.path(), args, &[]);
        assert!(matches!(done.exit, Some(0..=2)), "{args:?}: {}", done.stderr);
        assert!(begin.elapsed() < Duration::from_secs(40), "{args:?}: {:?}", begin.elapsed());
    }
}

/// The rows of the page are those that the benchmark prints, in its order, and within its limits.
#[test]
fn the_page_has_the_rows_of_the_benchmark() {
    let shapes = include_str!("../../benches/shapes.rs");
    let names: Vec<&str> = shapes
        .lines()
        .filter_map(|line| line.trim().strip_prefix("name: \"")?.strip_suffix("\","))
        .collect();
    let page = include_str!("../../docs/limits.md");
    let (_, page) = page.split_once("## What long inputs cost").expect("the page has tables");
    let (page, _) = page.split_once("\n## ").expect("they end");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| input"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let of_page: Vec<&str> = rows.iter().map(|row| row[1]).collect();
    assert_eq!(of_page, names);
    let number = |cell: &str, unit: &str| -> f64 {
        cell.strip_suffix(unit).and_then(|number| number.parse().ok()).expect("a measured number")
    };
    for row in rows {
        assert!(number(row[3], " s") < 10.0 && number(row[4], " MB") < 1_000.0, "{row:?}");
        let growths: Vec<f64> = row[5].split(", ").map(|growth| number(growth, "")).collect();
        let is_product = row[2].contains('×');
        assert_eq!(growths.len(), if is_product { 2 } else { 1 }, "{row:?}");
        // What grows with both sides at once says so below its table.
        let most = if row[1].contains("--max") || row[1].contains("--each") { 4.0 } else { 2.2 };
        assert!(growths.iter().all(|growth| *growth <= most), "{row:?}");
    }
}
