//! What is not read of devices, and what is left open of them.

use crate::testing::{gpu_node, ome_on};

const CLASS: &str =
    "---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}\n";
const SLICE: &str = "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d.example, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}\n";

fn template(name: &str, request: &str) -> String {
    format!(
        "---\n{{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {{name: {name}, namespace: ml}}, spec: {{spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu{request}}}}}]}}}}}}}}\n"
    )
}

fn deployment(spec: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{{spec}}}}}}}\n"
    )
}

#[test]
fn devices_that_were_not_read_are_not_judged() {
    let both = format!("{CLASS}{SLICE}");
    let wanted = template("t", "");
    let admin = template("t", ", adminAccess: true");
    let namespace = |name: &str| {
        format!("---\n{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}\n")
    };
    let live = "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: o, namespace: ml, uid: u}, spec: {devices: {requests: []}}}\n";
    for (input, verdict, part) in [
        (format!("{both}{wanted}"), "fits", ""),
        (wanted.clone(), "unknown", "no ResourceSlice and no DeviceClass"),
        (format!("{CLASS}{wanted}"), "unknown", "no ResourceSlice is"),
        (format!("{SLICE}{wanted}"), "unknown", "no DeviceClass is"),
        // Slices are those of a cluster.
        (both.clone(), "does-not-fit", "not found"),
        // Claims of a cluster were read, and this template is not one of its objects.
        (format!("{both}{live}"), "does-not-fit", "not found"),
        (format!("{both}{admin}"), "unknown", "Namespace `ml`"),
        (format!("{both}{admin}{}", namespace("other")), "unknown", "Namespace `ml`"),
        (format!("{both}{admin}{}", namespace("ml")), "does-not-fit", "not found"),
        // The fields of a request of v1beta1 in v1.
        (
            format!(
                "{both}{}",
                wanted.replace("exactly: {deviceClassName: gpu}", "deviceClassName: gpu")
            ),
            "does-not-fit",
            "refuses the one of the input",
        ),
    ] {
        let pods = deployment(
            "resourceClaims: [{name: d, resourceClaimTemplateName: t}], containers: [{name: c, image: x}]",
        );
        let text = gpu_node("n1", 8, "") + &input + &pods;
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        assert_eq!(ran.at("/placement/verdict"), verdict, "{input}: {}", ran.out);
        let list = if verdict == "unknown" { "notJudged" } else { "pending" };
        let message = ran.at(&format!("/placement/{list}/0/message")).to_string();
        assert!(message.contains(part), "{input}: {message}");
    }
}

#[test]
fn devices_behind_an_extended_resource_and_gates_are_not_judged() {
    let class = "---\n{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {extendedResourceName: d.example/gpu}}\n";
    let plain = |resource: &str| {
        format!("containers: [{{name: c, image: x, resources: {{limits: {{{resource}: 1}}}}}}]")
    };
    let gated = "schedulingGates: [{name: x.example/g}], containers: [{name: c, image: x}]";
    for (class, spec, verdict) in [
        (class, plain("d.example/gpu"), "unknown"),
        ("", plain("d.example/gpu"), "does-not-fit"),
        ("", plain("deviceclass.resource.kubernetes.io/gpu"), "unknown"),
        // A node has it.
        (class, plain("nvidia.com/gpu"), "fits"),
        ("", gated.to_owned(), "unknown"),
    ] {
        let text = gpu_node("n1", 8, "") + class + &deployment(&spec);
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        assert_eq!(ran.at("/placement/verdict"), verdict, "{spec}: {}", ran.out);
    }
}

#[test]
fn the_first_claim_that_cannot_be_made_is_the_reason() {
    let pods = deployment(
        "resourceClaims: [{name: d, resourceClaimTemplateName: t1}, {name: e, resourceClaimTemplateName: t2}], containers: [{name: c, image: x}]",
    );
    let text = gpu_node("n1", 8, "") + CLASS + SLICE + &pods;
    let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
    let message = ran.at("/placement/pending/0/message").to_string();
    assert!(message.contains("t1") && !message.contains("t2"), "{message}");
}

/// Exit codes and words of plan and rollout, which have to agree.
fn answers(
    class: &str,
    device: &str,
    request: &str,
    replicas: &str,
    more: &str,
) -> (String, String) {
    let slice =
        SLICE.replace("{name: gpu-0}", &format!("{{name: gpu-0{device}}}, {{name: gpu-1}}"));
    let class = CLASS.replace("spec: {}", &format!("spec: {{{class}}}"));
    let pods = deployment(
        "resourceClaims: [{name: d, resourceClaimTemplateName: t}], containers: [{name: c, image: x}]",
    );
    let pods = pods.replace("replicas: 1", replicas);
    let text = gpu_node("n1", 8, "") + &class + &slice + &template("t", request) + &pods + more;
    let plan = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
    let rollout = ome_on("rollout --all -o json -f {in.yaml}", &[("in.yaml", &text)]);
    let end = rollout.at("/workloads/0/components/0/rollout/end");
    assert_eq!(plan.code, rollout.code, "{} {}", plan.out, rollout.out);
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    (word(plan.at("/placement/verdict")), word(end))
}

#[test]
fn what_is_not_judged_refuses_no_node_and_what_waits_even_so_is_stuck() {
    let index = |text: &str| format!("selectors: [{{cel: {{expression: \"{text}\"}}}}]");
    let (open, unknown) = (index("device.driver.lastIndexOf('d') == 0"), ("unknown", "not-judged"));
    let rule = "---\n{apiVersion: resource.k8s.io/v1alpha3, kind: DeviceTaintRule, metadata: {name: r}, spec: {deviceSelector: {pool: n1}, taint: {key: k, effect: NoSchedule}}}\n";
    let all = ", allocationMode: All";
    for (class, device, request, replicas, more, expected) in [
        ("", "", "", 2, "", ("fits", "complete")),
        ("", "", "", 3, "", ("does-not-fit", "stuck")),
        // A class is looked at as a request is.
        (&*open, "", "", 2, "", unknown),
        (&open, "", "", 3, "", ("does-not-fit", "stuck")),
        ("", "", &format!(", {open}"), 2, "", unknown),
        // How many devices are all of them is open.
        (&open, "", all, 1, "", unknown),
        ("", "", all, 2, "", ("does-not-fit", "stuck")),
        ("", ", allowMultipleAllocations: true", "", 3, "", unknown),
        ("", ", consumesCounters: []", "", 2, "", unknown),
        ("", ", consumesCounters: []", "", 3, "", ("does-not-fit", "stuck")),
        ("", "", "", 2, rule, unknown),
        (&index("device.driver.size() % 2 == 1"), "", "", 2, "", ("fits", "complete")),
        (&index("device.driver.size() % 2 == 0"), "", "", 1, "", ("does-not-fit", "stuck")),
    ] {
        let found = answers(class, device, request, &format!("replicas: {replicas}"), more);
        let found = (&*found.0, &*found.1);
        assert_eq!(found, expected, "{class} {device} {request} {replicas} {more}");
    }
}
