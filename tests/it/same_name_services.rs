//! Objects of OME and of KServe in one directory, under the same names.

use super::process::{Call, Done, run};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/mixed");

fn ome(args: &[&str]) -> Done {
    let args =
        args.iter().chain(&["-f", DIRECTORY, "--no-builtin"]).map(ToString::to_string).collect();
    run(&Call {
        args,
        stdin: "",
        directory: Path::new(DIRECTORY),
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    })
    .expect("the call ends within a minute")
}

/// `api`, chosen runtime and names of candidates of every service.
fn decisions(done: &Done) -> Vec<(String, String, Vec<String>)> {
    let document: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let services = document["services"].as_array().expect("a list");
    services
        .iter()
        .map(|service| {
            let candidates = service["runtime"]["candidates"].as_array().expect("a list");
            (
                text(&service["api"]),
                text(&service["runtime"]["chosen"]["name"]),
                candidates.iter().map(|one| text(&one["name"])).collect(),
            )
        })
        .collect()
}

/// Both controllers write a Service under the name of the service: they undo each other's.
#[test]
fn an_object_written_by_two_services_is_a_duplicate_object() {
    let read =
        |file: &str| std::fs::read_to_string(Path::new(DIRECTORY).join(file)).expect("a file");
    let raw = format!("{}\n---\n{}", read("kserve.yaml"), read("ome.yaml"));
    let knative = raw.replace("deploymentMode: RawDeployment", "deploymentMode: Serverless");
    for (text, doubled) in [(&raw, 0), (&knative, 1)] {
        let args = "render iris -n ml --no-builtin --semantics controller -f -"
            .split(' ')
            .map(str::to_owned)
            .collect();
        let call = Call {
            args,
            stdin: text,
            directory: Path::new(DIRECTORY),
            env: &BTreeMap::new(),
            time: Duration::from_mins(1),
        };
        let done = run(&call).expect("the call ends within a minute");
        assert_eq!(done.exit, Some(0), "{}", done.stderr);
        assert_eq!(
            done.stdout
                .matches("\napiVersion: v1\nkind: Service\nmetadata:\n  name: iris\n")
                .count(),
            1 + doubled,
            "{}",
            done.stdout
        );
        assert_eq!(done.stderr.matches("duplicate-object").count(), doubled, "{}", done.stderr);
        let args = "validate --no-builtin --semantics controller -o json -f -";
        let args = args.split(' ').map(str::to_owned).collect();
        let validated = run(&Call { args, ..call }).expect("the call ends within a minute");
        let found = validated.stdout.matches("\"duplicate-object\"").count();
        assert_eq!(found, doubled, "{}", validated.stdout);
    }
}

#[test]
fn services_of_one_name_are_decided_apart() {
    for semantics in ["documented", "controller"] {
        let done = ome(&["explain", "iris", "-n", "ml", "--semantics", semantics, "-o", "json"]);
        assert_eq!(done.exit, Some(0), "{}", done.stderr);
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let expected = [
            ("ome".into(), "server".into(), names(&["server", "ome-only"])),
            ("kserve".into(), "server".into(), names(&["server", "kserve-only"])),
        ];
        assert_eq!(decisions(&done), expected, "{semantics}");
    }
}

#[test]
fn a_runtime_of_one_api_is_no_runtime_of_the_other() {
    for (service, other) in [("wants-kserve", "kserve-only"), ("wants-ome", "ome-only")] {
        let done = ome(&["explain", service, "-n", "ml", "-o", "json"]);
        assert_eq!(done.exit, Some(1));
        let document: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
        assert_eq!(
            document["services"][0]["error"]["code"], "runtime-not-found",
            "{service} names {other}"
        );
    }
}

#[test]
fn header_table_and_explain_show_the_api() {
    let plan = ome(&["plan", "-n", "ml"]).stdout;
    assert!(plan.starts_with("runtimes: 4 read · services: 2 of OME, 2 of KServe\n"), "{plan}");
    assert!(
        plan.lines().any(|line| line.starts_with("iris "))
            && plan.lines().any(|line| line.starts_with("iris (KServe) ")),
        "{plan}"
    );
    let explained = ome(&["explain", "iris", "-n", "ml"]).stdout;
    assert!(
        explained.lines().any(|line| line.starts_with("ml/iris  "))
            && explained.lines().any(|line| line.starts_with("ml/iris (KServe)  ")),
        "{explained}"
    );
}

#[test]
fn each_service_renders_the_objects_of_its_own_operator() {
    let done = ome(&["render", "iris", "-n", "ml", "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let names: Vec<String> = document["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|object| {
            format!(
                "{}/{}",
                object["kind"].as_str().unwrap_or_default(),
                object["metadata"]["name"].as_str().unwrap_or_default()
            )
        })
        .collect();
    assert!(
        names.contains(&"Deployment/iris-engine".to_owned())
            && names.contains(&"Deployment/iris-predictor".to_owned()),
        "{names:?}"
    );
}

/// `explain` and `render` are about one definition of a service, and name the way to the others.
#[test]
fn an_answer_about_one_of_several_definitions_says_which() {
    let root = tempfile::tempdir().expect("a directory");
    for environment in ["dev", "prod"] {
        let directory = root.path().join(environment);
        std::fs::create_dir(&directory).expect("a directory");
        let text = format!(
            "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: iris, namespace: ml}}\nspec:\n  predictor:\n    model: {{modelFormat: {{name: sklearn}}, storageUri: \"s3://{environment}/x\"}}\n"
        );
        std::fs::write(directory.join("a.yaml"), text).expect("a file");
    }
    let ask = |args: &str| {
        let call = Call {
            args: args.split(' ').map(str::to_owned).collect(),
            stdin: "",
            directory: root.path(),
            env: &BTreeMap::new(),
            time: Duration::from_mins(1),
        };
        run(&call).expect("the call ends within a minute")
    };
    let said = "dev/ of 2 variants (ml/iris): `--in prod` asks about another";
    let one = ask("render iris -f .");
    assert!(one.stderr.contains(said), "{}", one.stderr);
    // `explain` lists them, each with the command that is about it.
    let page = ask("explain iris -f .").stdout;
    let other = "ome explain ml/iris --in prod -f .";
    for line in ["variants dev/  dev/a.yaml:3  on this page", "prod/  prod/a.yaml:3  `"] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(page.contains(&format!("`{other}`")), "{page}");
    let json = ask("explain iris -f . -o json").stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let variants = &json["services"][0]["variants"];
    assert_eq!(
        (&variants[0]["explained"], &variants[1]["command"], &variants[1]["line"]),
        (&true.into(), &other.into(), &3.into()),
        "{variants:#}"
    );
    let literal = ask(&other["ome ".len()..]).stdout;
    assert!(literal.contains("prod/a.yaml:3") && !literal.contains("variants"), "{literal}");
    let other = ask("render iris -f . --in prod");
    assert!(!other.stderr.contains("variants"), "{}", other.stderr);
    let other = ask("render iris -f . --in prod");
    assert!(other.stdout.contains("s3://prod/x"), "{}", other.stdout);
}

/// Objects that are equal in several directories are those of each: a service uses the one beside it.
#[test]
fn equal_objects_of_several_directories_belong_to_the_services_of_each() {
    let root = tempfile::tempdir().expect("a directory");
    let runtime = "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: own, namespace: ml}\nspec:\n  supportedModelFormats: [{name: sklearn}]\n  containers: [{name: kserve-container, image: example/own:v1}]\n";
    for environment in ["dev", "prod"] {
        let directory = root.path().join(environment);
        std::fs::create_dir(&directory).expect("a directory");
        let text = format!(
            "{runtime}---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: iris, namespace: ml}}\nspec:\n  predictor:\n    model: {{runtime: own, modelFormat: {{name: sklearn}}, storageUri: \"s3://{environment}/x\"}}\n"
        );
        std::fs::write(directory.join("a.yaml"), text).expect("a file");
    }
    let call = Call {
        args: ["plan", "-f", ".", "-o", "json"].map(str::to_owned).to_vec(),
        stdin: "",
        directory: root.path(),
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    };
    let done = run(&call).expect("the call ends within a minute");
    let plan: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let services = plan["services"].as_array().expect("services");
    assert_eq!((done.exit, services.len()), (Some(0), 2), "{plan:#}");
    assert!(services.iter().all(|own| own["error"].is_null()), "{plan:#}");
}
