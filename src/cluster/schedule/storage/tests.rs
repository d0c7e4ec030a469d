//! Volumes that are made before a pod has a node.

use crate::testing::{gpu_node, ome_on};

#[test]
fn in_which_of_several_zones_a_volume_is_made_is_not_judged() {
    let node = |name: &str, gpus: i64, zone: &str| {
        let host = format!("kubernetes.io/hostname: {name}");
        let labels = format!("{host}, topology.kubernetes.io/zone: {zone}");
        gpu_node(name, gpus, "").replace(&host, &labels)
    };
    let class = |mode: &str, driver: &str, more: &str| {
        format!(
            "---\n{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: s}}, provisioner: {driver}, volumeBindingMode: {mode}{more}}}\n"
        )
    };
    let claim = |meta: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: c, namespace: ml{meta}}}, spec: {{storageClassName: s, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}\n"
        )
    };
    let pods = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}}}\n";
    let ebs = "ebs.csi.aws.com";
    let only = |zone: &str| {
        format!(
            ", allowedTopologies: [{{matchLabelExpressions: [{{key: topology.kubernetes.io/zone, values: [{zone}]}}]}}]"
        )
    };
    let live = ", uid: u";
    for (zones, class, meta, verdict) in [
        (["a", "b"], class("Immediate", ebs, ""), "", "unknown"),
        // The first zone by name has no room, and the volume need not be there.
        (["a", "b"], class("Immediate", ebs, ""), live, "unknown"),
        (["a", "a"], class("Immediate", ebs, ""), live, "fits"),
        (["a", "b"], class("Immediate", ebs, &only("b")), live, "fits"),
        (["a", "b"], class("Immediate", ebs, &only("a")), live, "does-not-fit"),
        (["a", "b"], class("WaitForFirstConsumer", ebs, ""), live, "fits"),
        (["a", "b"], class("Immediate", "nfs.csi.k8s.io", ""), live, "fits"),
    ] {
        let nodes = node("n1", 1, zones[0]) + &node("n2", 4, zones[1]);
        let text = nodes + &class + &claim(meta) + pods;
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        assert_eq!(ran.at("/placement/verdict"), verdict, "{class} {meta}: {}", ran.out);
    }
}

#[test]
fn a_claim_gets_the_volume_that_it_names_if_it_fits() {
    let volume = |spec: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: v}}, spec: {{hostPath: {{path: /x}}, {spec}}}}}\n"
        )
    };
    let claim = |name: &str, spec: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}, namespace: ml}}, spec: {{storageClassName: s, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}{spec}}}}}\n"
        )
    };
    let pods = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: c, image: x}]}}}\n";
    let fits = "capacity: {storage: 2Gi}, accessModes: [ReadWriteOnce], storageClassName: s";
    for (spec, verdict) in [
        (fits.to_owned(), "fits"),
        (fits.replace("2Gi", "1Mi"), "does-not-fit"),
        (fits.replace("ReadWriteOnce", "ReadOnlyMany"), "does-not-fit"),
        (fits.replace("storageClassName: s", "storageClassName: t"), "does-not-fit"),
        // Kept for the claim, it is not compared.
        (fits.replace("2Gi", "1Mi") + ", claimRef: {namespace: ml, name: c}", "fits"),
        (fits.to_owned() + ", claimRef: {namespace: ml, name: d}", "does-not-fit"),
    ] {
        // Another claim, which is first by its name, would take any volume of its class.
        let claims = claim("b", "") + &claim("c", ", volumeName: v");
        let text = gpu_node("n1", 1, "") + &volume(&spec) + &claims + pods;
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        assert_eq!(ran.at("/placement/verdict"), verdict, "{spec}: {}", ran.out);
    }
}

#[test]
fn a_volume_that_is_kept_for_a_claim_is_the_only_one_that_it_gets() {
    let text = |mode: &str, zone: &str| {
        let volume = format!(
            "---\n{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: v}}, spec: {{hostPath: {{path: /x}}, capacity: {{storage: 2Gi}}, accessModes: [{mode}], storageClassName: s, claimRef: {{namespace: ml, name: c}}, nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [{zone}]}}]}}]}}}}}}}}\n"
        );
        let others = "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: ml}, spec: {storageClassName: s, accessModes: [ReadWriteOnce], selector: {matchLabels: {a: b}}, resources: {requests: {storage: 1Gi}}}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}}}\n";
        gpu_node("n1", 4, "") + &gpu_node("n2", 1, "") + &volume + others
    };
    for (mode, zone, verdict) in [
        ("ReadWriteOnce", "n1", "fits"),
        // It is the claim's at once. Where it is, a pod has no room.
        ("ReadWriteOnce", "n2", "does-not-fit"),
        // The controller looks for volumes with the modes of the claim: it is never bound.
        ("ReadWriteMany", "n1", "does-not-fit"),
    ] {
        let text = text(mode, zone);
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        assert_eq!(ran.at("/placement/verdict"), verdict, "{mode} {zone}: {}", ran.out);
    }
}

#[test]
fn a_file_system_is_there_for_the_nodes_of_all_zones() {
    let node = |name: &str, zone: &str| {
        gpu_node(name, 4, "")
            .replace("labels: {", &format!("labels: {{topology.kubernetes.io/zone: {zone}, "))
    };
    let nodes = node("n1", "a") + &node("n2", "b");
    assert!(nodes.contains("zone: b"), "{nodes}");
    let pods = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ml}\nspec: {replicas: 2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}}}\n";
    let waits = "volumeBindingMode: WaitForFirstConsumer";
    let only = "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a]}]}]";
    for (driver, mode, class, verdict) in [
        ("filestore.csi.storage.gke.io", "ReadWriteMany", "", "fits"),
        ("efs.csi.aws.com", "ReadOnlyMany", "", "fits"),
        ("ebs.csi.aws.com", "ReadWriteMany", "", "does-not-fit"),
        ("efs.csi.aws.com", "ReadWriteMany", only, "does-not-fit"),
    ] {
        let claim = format!(
            "---\n{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: s}}, provisioner: {driver}, {waits}, {class}}}\n---\n{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: c, namespace: ml}}, spec: {{storageClassName: s, accessModes: [{mode}], resources: {{requests: {{storage: 1Gi}}}}}}}}\n"
        );
        let text = nodes.clone() + &claim + pods;
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        assert_eq!(ran.at("/placement/verdict"), verdict, "{driver} {mode} {class}: {}", ran.out);
    }
}
