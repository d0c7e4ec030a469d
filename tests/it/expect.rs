//! `ome test` on files of its own.

use crate::process::Folder;

const CATALOG: &str = include_str!("../../examples/kustomize/catalog.yaml");
const SERVICE: &str = include_str!("../../examples/kustomize/service.yaml");
const CASES: &str = include_str!("../../examples/test/chat.ome-test.yaml");

fn folder(cases: &str) -> Folder {
    let cases = cases.replace("../kustomize/", "");
    Folder::new(&[
        ("catalog.yaml", CATALOG),
        ("service.yaml", SERVICE),
        ("a.ome-test.yaml", &cases),
    ])
}

#[test]
fn a_case_file_with_the_default_name_is_found_and_passes() {
    let done = folder(CASES).ome("test");
    assert_eq!(done.exit, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.ends_with("1 case: 1 passed, 0 failed\n"), "{}", done.stdout);
}

#[test]
fn a_directory_is_searched_for_cases() {
    let folder = folder(CASES);
    let done = folder.ome("test .");
    assert!(done.stdout.ends_with("1 case: 1 passed, 0 failed\n"), "{}", done.stdout);
    let none = Folder::new(&[("catalog.yaml", CATALOG)]).ome("test .");
    assert_eq!(none.exit, Some(1), "{}", none.stdout);
    assert!(none.stderr.contains("no file of expectations was found"), "{}", none.stderr);
}

#[test]
fn recorded_expectations_pass_and_keep_comments() {
    let wrong = CASES
        .replace("gpus: 1", "gpus: 2 # one is enough")
        .replace("32768Mi", "\"1Gi\"")
        .replace("hostNetwork: null", "hostNetwork: true");
    let folder = folder(&wrong);
    let failed = folder.ome("test");
    assert_eq!(failed.exit, Some(2), "{}", failed.stdout);
    for line in ["`gpus`: expected 2, got 1", "expected \"1Gi\", got \"32Gi\""] {
        assert!(failed.stdout.contains(line), "{}", failed.stdout);
    }
    let recorded = folder.ome("test --record");
    assert_eq!((recorded.exit, recorded.stderr.as_str()), (Some(0), "3 values recorded\n"));
    let expected = CASES
        .replace("../kustomize/", "")
        .replace("gpus: 1", "gpus: 1 # one is enough")
        .replace("32768Mi", "32Gi");
    assert_eq!(folder.read("a.ome-test.yaml"), expected);
    assert_eq!(folder.ome("test").exit, Some(0));
}

#[test]
fn of_two_records_at_once_a_file_has_the_edits_of_one() {
    let wrong = CASES.replace("gpus: 1", "gpus: 2 # one is enough").replace("32768Mi", "\"1Gi\"");
    for round in 0..20 {
        let folder = folder(&wrong);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                // The other one has nothing to record, or leaves a file that changed meanwhile.
                scope.spawn(|| assert!(folder.ome("test --record").exit < Some(3)));
            }
        });
        let text = folder.read("a.ome-test.yaml");
        assert!(text.contains("gpus: 1 # one is enough\n"), "{round}: {text}");
        let done = folder.ome("test");
        assert_eq!(done.exit, Some(0), "{round}: {}{text}", done.stdout);
    }
}

#[test]
fn empty_expectations_are_recorded_for_all_services() {
    let case = "cases:\n- name: x\n  files: [catalog.yaml, service.yaml]\n";
    let all = "runtime: sglang-llama";
    for (cases, recorded) in [
        (
            format!("{case}  services: {{}} # all\n"),
            "    default/chat:\n      runtime: sglang-llama\n",
        ),
        (
            format!("{case}  services: {{default/chat: {{}}}}\n"),
            "{default/chat: { runtime: \"sglang-llama\",",
        ),
        (
            "cases: [{name: x, files: [catalog.yaml, service.yaml], services: {}}]\n".to_owned(),
            "services: { default/chat: { runtime: \"sglang-llama\",",
        ),
    ] {
        let folder = folder(&cases);
        let done = folder.ome("test a.ome-test.yaml --record");
        assert_eq!((done.exit, done.stderr.as_str()), (Some(0), "1 value recorded\n"), "{cases}");
        let text = folder.read("a.ome-test.yaml");
        assert!(text.contains(recorded), "{text}");
        let done = folder.ome("test a.ome-test.yaml -o json");
        assert_eq!(done.exit, Some(0), "{text}{}", done.stdout);
        let broken = text.replace("sglang-llama", "other");
        std::fs::write(folder.at("a.ome-test.yaml"), broken).expect("a file");
        assert_eq!(folder.ome("test a.ome-test.yaml").exit, Some(2), "{text}");
    }
    // A file that does not exist begins with what every service gets.
    let folder = folder(case);
    let done = folder.ome("test new.ome-test.yaml --record -f catalog.yaml -f service.yaml");
    assert_eq!(done.exit, Some(0), "{}{}", done.stdout, done.stderr);
    let text = folder.read("new.ome-test.yaml");
    assert!(
        text.starts_with("cases:\n- name: recorded\n  services:\n    default/chat:\n"),
        "{text}"
    );
    assert!(text.contains(all), "{text}");
    let done = folder.ome("test new.ome-test.yaml -f catalog.yaml -f service.yaml");
    assert_eq!(done.exit, Some(0), "{}", done.stdout);
    // Nothing to record is no file.
    let done = folder.ome("test none.ome-test.yaml --record -f catalog.yaml");
    assert_eq!(done.exit, Some(1), "{}", done.stdout);
    assert!(!folder.at("none.ome-test.yaml").exists());
}

#[test]
fn an_expectation_that_cannot_be_checked_fails_with_a_message() {
    let case = "cases:\n- name: x\n  files: [catalog.yaml, service.yaml]\n";
    for (rest, exit, message) in [
        ("  services: {default/chat: {fits: true}}\n", 2, "no Node was read"),
        ("  services: {default/chat: {runtime: sglang-lama}}\n", 2, "did you mean `sglang-llama`?"),
        ("  objects: {Deployment/chat-engin: {kind: x}}\n", 2, "did you mean"),
        ("  objects: {deploy/chat-engine: {'spec[': x}}\n", 2, "has a `[` without `]`"),
        ("  services: {default/chat: {env.HF_TOKEN: x}}\n", 2, "expected \"•••\", got null"),
        ("  findings: [same-prio]\n", 1, "did you mean `same-priority`?"),
        ("  services: []\n", 1, "must be a mapping"),
        ("  service: {}\n", 1, "did you mean `services`?"),
    ] {
        let done = folder(&format!("{case}{rest}")).ome("test a.ome-test.yaml");
        let shown = format!("{}{}", done.stdout, done.stderr);
        assert_eq!(done.exit, Some(exit), "{rest}{shown}");
        assert!(shown.contains(message), "{rest}{shown}");
    }
    for (text, message) in [
        ("", "holds no expectations"),
        ("cases: 1\n", "must be a list"),
        ("cases:\n- files: []\n", "`cases[0].name` is missing"),
        ("a: b: c\n", "yaml-syntax"),
    ] {
        let done = folder(text).ome("test a.ome-test.yaml");
        assert!(done.exit == Some(1) && done.stderr.contains(message), "{text}{}", done.stderr);
    }
    let gone = "cases:\n- name: x\n  files: [gone.yaml]\n";
    let done = folder(gone).ome("test a.ome-test.yaml");
    assert!(done.exit == Some(1) && done.stderr.contains("gone.yaml"), "{}", done.stderr);
    assert!(done.stdout.contains("0 passed, 0 failed, 1 with input that was not read"));
}

#[test]
fn a_fleet_survives_the_loss_of_a_node_that_another_one_stands_in_for() {
    let node = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\nstatus:\n  allocatable: {{cpu: \"8\", memory: 8Gi, pods: \"9\", nvidia.com/gpu: \"4\"}}\n"
        )
    };
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: t}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers: [{name: main, image: example/web, resources: {limits: {nvidia.com/gpu: \"4\"}}}]\n";
    let case = "cases:\n- name: spare\n  files: [in.yaml]\n  survives: node\n";
    let one = format!("{deployment}{}", node("gpu-a"));
    let folder = Folder::new(&[("in.yaml", &one), ("a.ome-test.yaml", case)]);
    let lost = folder.ome("test");
    assert_eq!(lost.exit, Some(2), "{}", lost.stdout);
    let said = "a.ome-test.yaml:4: survives\n    the fleet does not survive the loss of 1 of 1 node: node=gpu-a";
    assert!(lost.stdout.contains(said), "{}", lost.stdout);
    folder.write("in.yaml", format!("{one}{}", node("gpu-b")));
    let spare = folder.ome("test");
    assert_eq!(spare.exit, Some(0), "{}", spare.stdout);
}
