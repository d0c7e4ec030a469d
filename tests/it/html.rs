//! Pages of `-o html`: one design, whole, readable by screen readers, nothing from elsewhere, and
//! nothing of the input that a browser would obey.

use crate::process::Folder;
use std::collections::BTreeMap;
use std::path::Path;

const QUICKSTART: [&str; 4] = ["models.yaml", "nodes.yaml", "runtimes.yaml", "services.yaml"];

fn serving(image: &str) -> String {
    format!(
        "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {{name: m, namespace: b}}\nspec:\n  schedulerName: volcano\n  replicas: 3\n  template:\n    roles:\n    - name: decode\n      replicas: 1\n      workerReplicas: 0\n      entryTemplate: {{spec: {{containers: [{{name: c, image: '{image}'}}]}}}}\n"
    )
}

/// Every page, by its call.
fn pages() -> BTreeMap<&'static str, String> {
    let folder = Folder::new(&[
        ("m/old/m.yaml", &serving("a")),
        ("m/new/m.yaml", &serving("b")),
        ("bad.yaml", "a: [\n"),
    ]);
    for file in QUICKSTART {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/quickstart").join(file);
        let text = std::fs::read_to_string(path).expect("a file of the quick start");
        folder.write(&format!("base/{file}"), text.replace("priority: 2", "priority: 1"));
        folder.write(&format!("in/{file}"), &text);
        // Enough services that they are rows of their namespaces.
        if file == "services.yaml" {
            for copy in 0..20 {
                let copied = text.replace("namespace: quickstart", &format!("namespace: ns{copy}"));
                folder.write(&format!("in-many/{copy}.yaml"), copied);
            }
        } else {
            folder.write(&format!("in-many/{file}"), &text);
        }
    }
    [
        "plan -f in",
        "plan -f in-many",
        "diff --base base -f in",
        "rollout chat --from base -f in",
        "rollout m --from m/old -f m/new",
        "rollout --all --base base -f in",
        "matrix -f in",
        "drift -f in --live base",
        "drain gpu-l40s-0 -f in",
        "drain --max -f in",
        "plan --each node -f in",
        "plan --without node=gpu-l40s-0 -f in",
        "explain -f in",
        "explain chat --merge -f in",
        "explain runtime/sglang-qwen2-5-small -f in",
        "explain m -f m/new",
        "validate bad.yaml in",
    ]
    .into_iter()
    .map(|call| (call, folder.ome(&format!("{call} -o html")).stdout))
    .collect()
}

/// The texts between two marks.
fn all<'a>(page: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    page.split(start).skip(1).map(|rest| rest.split(end).next().unwrap_or_default()).collect()
}

#[test]
fn every_page_is_well_formed_and_loads_nothing_external() {
    for (call, page) in pages() {
        assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"), "{call}: {page}");
        assert!(page.ends_with("</html>\n"), "{call}: {page}");
        for foreign in ["http", " src=", "url(", "@import", "<link", "import("] {
            assert!(!page.contains(foreign), "{call}: {foreign}");
        }
        for once in
            ["<h1>", "<main ", "<style>", "<script>", "<p class=\"lead", "name=\"viewport\""]
        {
            assert_eq!(page.matches(once).count(), 1, "{call}: {once}");
        }
        let body = page.split("<body>").nth(1).and_then(|rest| rest.split("<script>").next());
        let body = body.expect("a body");
        for element in [
            "section", "details", "summary", "table", "tr", "th", "td", "ul", "li", "div", "p",
            "pre",
        ] {
            let opened = body.matches(&format!("<{element}>")).count()
                + body.matches(&format!("<{element} ")).count();
            let closed = body.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{call}: {element}\n{body}");
        }
        let mut ids = all(body, " id=\"", "\"");
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{call}: ids {ids:?}");
    }
}

#[test]
fn headings_do_not_skip_levels_and_tables_have_header_cells() {
    for (call, page) in pages() {
        let mut last = 0;
        for level in all(&page, "<h", ">").iter().filter_map(|own| own.chars().next()?.to_digit(10))
        {
            assert!(level <= last + 1, "{call}: a heading of level {level} follows {last}\n{page}");
            last = level;
        }
        for table in all(&page, "<table", "</table>") {
            let head = table.split("<tbody>").next().unwrap_or_default();
            assert!(head.contains("<th scope=\"col\""), "{call}: {table}");
            assert_eq!(
                table.matches("<th ").count(),
                table.matches("<th scope=").count(),
                "{call}: {table}"
            );
            assert!(!table.contains("<th>"), "{call}: {table}");
            for row in all(table.split("<tbody>").nth(1).unwrap_or_default(), "<tr", "</tr>") {
                assert!(
                    row.contains("<th scope=\"row\"") || row.contains("colspan"),
                    "{call}: {row}"
                );
            }
        }
    }
}

/// The variables of the stylesheet in light and in dark.
fn colors(style: &str) -> Vec<BTreeMap<&str, &str>> {
    all(style, ":root{", "}")
        .iter()
        .map(|block| {
            block.split(';').filter_map(|own| own.strip_prefix("--")?.split_once(':')).collect()
        })
        .collect()
}

/// Relative luminance of `#rrggbb` (WCAG 2.2, Relative luminance).
fn luminance(color: &str) -> f64 {
    let channel = |at: usize| {
        let part = f64::from(u8::from_str_radix(&color[at..at + 2], 16).expect("a color")) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

/// WCAG 2.2, Contrast ratio.
fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn text_has_contrast_in_light_dark_and_print() {
    assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 0.01);
    let pages = pages();
    let style = all(&pages["matrix -f in"], "<style>", "</style>")[0];
    let schemes = colors(style);
    assert_eq!(schemes.len(), 3, "light, dark and print");
    for (at, scheme) in schemes.iter().enumerate() {
        for text in ["text", "dim", "good", "bad", "warn", "link"] {
            for back in ["back", "panel"] {
                let ratio = contrast(scheme[text], scheme[back]);
                assert!(ratio >= 4.5, "{at}: {text} on {back}: {ratio:.2}");
            }
        }
        for (text, back) in [
            ("text", "heat-win"),
            ("text", "heat-tie"),
            ("text", "heat-room"),
            ("text", "empty"),
            ("dim", "heat-none"),
        ] {
            let ratio = contrast(scheme[text], scheme[back]);
            assert!(ratio >= 4.5, "{at}: {text} on {back}: {ratio:.2}");
        }
        // Frames and bars (WCAG 2.2, 1.4.11).
        assert!(contrast(scheme["step"], scheme["back"]) >= 3.0, "{at}");
    }
    for (call, page) in &pages {
        assert_eq!(all(page, "<style>", "</style>"), [style], "{call}: one stylesheet");
    }
}

#[test]
fn status_symbols_are_in_every_kind_of_page() {
    let pages = pages();
    for (call, symbols) in [
        ("plan -f in", &["✓ 1 of 1"][..]),
        ("matrix -f in", &["✓ sglang-qwen2-5-small", "- no runtime", "class=\"hole\""]),
        ("drift -f in --live base", &["+</span>", "+ missing"]),
        ("rollout m --from m/old -f m/new", &[">○</i>", ">◐</i>", ">●</i>"]),
        ("rollout chat --from base -f in", &["ome rollout chat"]),
        ("validate bad.yaml in", &["✗ error</span> <code>yaml-syntax</code>"]),
    ] {
        for symbol in symbols {
            assert!(pages[call].contains(symbol), "{call}: {symbol}\n{}", pages[call]);
        }
    }
}

#[test]
fn a_large_fleet_is_folded_by_namespace() {
    let page = &pages()["plan -f in-many"];
    assert_eq!(page.matches("<details class=\"group\" data-group=\"ns").count(), 20, "{page}");
    assert!(page.contains("<summary>ns0: 3 services</summary>"), "{page}");
}

/// A KServe service of one pod, which requests GPUs.
fn custom(name: &str, gpus: usize) -> String {
    format!(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: {name}, namespace: a, annotations: {{serving.kserve.io/deploymentMode: RawDeployment}}}}\nspec:\n  predictor:\n    containers:\n    - {{name: kserve-container, image: x, resources: {{requests: {{nvidia.com/gpu: '{gpus}'}}, limits: {{nvidia.com/gpu: '{gpus}'}}}}}}\n---\n"
    )
}

#[test]
fn pages_say_what_the_text_says_and_name_what_waits() {
    let node = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}\nstatus: {{allocatable: {{cpu: '64', memory: 500Gi, pods: '110', nvidia.com/gpu: '8'}}}}\n---\n"
        )
    };
    let few: String = (0..14).map(|at| custom(&format!("s{at:02}"), 1)).collect();
    let nodes: String = ["n0", "n1", "n2"].map(node).concat();
    let folder = Folder::new(&[
        ("in/nodes.yaml", &nodes),
        ("in/services.yaml", &(few.clone() + &custom("wide", 16))),
        ("base/nodes.yaml", &nodes),
        ("base/services.yaml", &few),
    ]);
    let last = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    let lead = |page: &str| all(page, "<p class=\"lead", "</p>")[0].to_owned();
    for call in ["plan -f in", "drain n0 -f in"] {
        let text = last(&folder.ome(call).stdout);
        let page = folder.ome(&format!("{call} -o html")).stdout;
        assert!(lead(&page).ends_with(&text), "{call}: {text}\n{}", lead(&page));
        assert!(page.contains("wide</b>"), "{call}: the pod that waits\n{page}");
        for map in all(&page, "<div class=\"legend\">", "</details>") {
            // Twelve colors, what is not planned, and what is free.
            assert_eq!(map.matches("<span><i class=\"swatch").count(), 14, "{call}: {map}");
            assert!(map.contains("2 more services"), "{call}: {map}");
        }
    }
    assert!(last(&folder.ome("drain n0 -f in").stdout).ends_with("; 1 pod waits as before"));
    assert!(last(&folder.ome("drain n0 -f base").stdout).ends_with("and every pod has a node"));
    let change = folder.ome("diff --base base -f in -o html").stdout;
    assert!(lead(&change).contains("✗ Plan: "), "{change}");
    assert!(lead(&change).ends_with("; 1 of 15 pods pending"), "{}", lead(&change));
    let comment = folder.ome("diff --base base -f in -o markdown").stdout;
    assert!(comment.contains("; 1 of 15 pods pending**"), "{comment}");
}

#[test]
fn input_values_are_escaped_in_every_page() {
    let planted = "<img/onerror=alert(1)>\\\"'&</script>";
    let text = format!(
        "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {{name: \"{planted}\", namespace: \"{planted}\"}}\nspec:\n  model: {{name: \"{planted}\"}}\n  engine: {{minReplicas: 1}}\n"
    );
    let folder = Folder::new(&[
        ("in/a.yaml", &text),
        ("base/a.yaml", &text.replace("minReplicas: 1", "minReplicas: 2")),
    ]);
    for call in [
        "plan -f in",
        "diff --base base -f in",
        "matrix -f in",
        "drift -f in --live base",
        "validate in",
    ] {
        let page = folder.ome(&format!("{call} -o html")).stdout;
        assert!(page.starts_with("<!doctype html>"), "{call}: {page}");
        assert!(!page.contains("<img"), "{call}: {page}");
        assert_eq!(page.matches("</script>").count(), 1, "{call}: {page}");
    }
}
