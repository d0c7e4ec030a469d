//! Defaults that wrappers write into pods.
//!
//! In: the pod spec of a composed component. Out: the pod spec of a template. Only absent and empty
//! values are filled in, init containers never; nothing is merged here
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/common).

use super::build::{IntoNode, node, set};
use super::rules;
use crate::yaml::{Map, Node, Origin, Rule};

const READINESS: Origin = Origin::Default(&rules::READINESS);

/// The pod of a Deployment: defaults of the API server, and a readiness probe for containers of
/// these names.
pub(crate) fn deployment(pod: &Node, probed: &[&str]) -> Node {
    defaulted(pod, |container| {
        let named =
            container.get("name").and_then(Node::as_str).is_some_and(|name| probed.contains(&name));
        // Sidecars get no probe: their ports may open only after the engine's.
        if named && !present(container, "readinessProbe") {
            let port = first_port(container).cloned().or_else(|| 8080.into_node(READINESS));
            let probe = node!(READINESS; {
                tcpSocket: { port: port },
                timeoutSeconds: 1,
                periodSeconds: 10,
                successThreshold: 1,
                failureThreshold: 3,
            });
            set(container, "readinessProbe", probe, READINESS);
        }
    })
}

/// The pod of a LeaderWorkerSet: defaults of the API server.
pub(crate) fn leader_worker_set(pod: &Node) -> Node {
    defaulted(pod, |_| {})
}

/// The head pod of a RayCluster: Ray is stopped before a container ends.
pub(crate) fn ray_head(pod: &Node) -> Node {
    edited(pod, |_| {}, stop_ray)
}

/// The worker pod of a RayCluster: the head's, with a command that joins the cluster.
pub(crate) fn ray_worker(pod: &Node) -> Node {
    const RULE: &Rule = &rules::RAY;
    edited(
        pod,
        |_| {},
        |container| {
            stop_ray(container);
            set(container, "command", node!(RULE; ["/bin/bash", "-lc", "--"]), RULE);
            set(
                container,
                "args",
                // KubeRay sets this variable in each pod to the command that joins the head.
                node!(RULE; ["ulimit -n 65536; echo worker; $KUBERAY_GEN_RAY_START_CMD"]),
                RULE,
            );
        },
    )
}

fn stop_ray(container: &mut Map) {
    const RULE: &Rule = &rules::RAY_STOP;
    if !present(container, "lifecycle") {
        set(
            container,
            "lifecycle",
            node!(RULE; { preStop: { exec: { command: ["/bin/bash", "-lc", "ray stop"] } } }),
            RULE,
        );
    }
}

/// The pod of a router. Its ServiceAccount is always the one that was made for it.
pub(crate) fn router(pod: &Node, account: &str) -> Node {
    // Equal already: the place where it was written stays its origin.
    if pod.get("serviceAccountName").and_then(Node::as_str) == Some(account) {
        return pod.clone();
    }
    edited(pod, |spec| set(spec, "serviceAccountName", account, &rules::ROUTER_ACCOUNT), |_| {})
}

fn defaulted(pod: &Node, also: impl Fn(&mut Map)) -> Node {
    const RULE: Origin = Origin::Default(&rules::POD_DEFAULTS);
    edited(
        pod,
        |spec| {
            default(spec, "restartPolicy", "Always", RULE);
            default(spec, "dnsPolicy", "ClusterFirst", RULE);
            default(spec, "schedulerName", "default-scheduler", RULE);
            // 0 is a valid period, unlike an empty text.
            if !present(spec, "terminationGracePeriodSeconds") {
                set(spec, "terminationGracePeriodSeconds", 30, RULE);
            }
            // The wrapper also writes `securityContext: {}`, which has no effect and is not
            // printed.
        },
        |container| {
            also(container);
            default(container, "terminationMessagePath", "/dev/termination-log", RULE);
            default(container, "terminationMessagePolicy", "File", RULE);
            default(container, "imagePullPolicy", "IfNotPresent", RULE);
        },
    )
}

/// A copy of the pod, edited, and every one of its `containers` edited.
fn edited(pod: &Node, spec: impl FnOnce(&mut Map), container: impl Fn(&mut Map)) -> Node {
    let mut pod = pod.clone();
    if let Some(map) = pod.as_map_mut() {
        // Init containers are not in this list: the wrappers leave them as they are.
        if let Some(containers) = map.get_mut("containers").and_then(Node::as_list_mut) {
            containers.make_mut().iter_mut().filter_map(Node::as_map_mut).for_each(container);
        }
        spec(map);
    }
    pod
}

/// Whether a key is there with a value other than null.
fn present(map: &Map, key: &str) -> bool {
    map.get(key).is_some_and(|node| !node.is_null())
}

fn default(map: &mut Map, key: &'static str, value: &'static str, origin: Origin) {
    if map.get(key).is_none_or(|node| node.is_null() || node.as_str() == Some("")) {
        set(map, key, value, origin);
    }
}

/// The first container of a pod spec, whose ports a Service exposes.
pub(crate) fn first_container(pod: &Node) -> Option<&Node> {
    pod.get("containers").and_then(|containers| containers.items().first())
}

fn first_port(container: &Map) -> Option<&Node> {
    container
        .get("ports")
        .and_then(|ports| ports.items().first())
        .and_then(|port| port.get("containerPort"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::parse;

    #[test]
    fn deployment_defaults_fill_absent_and_empty_fields() {
        let pod = parse(
            r#"{"dnsPolicy":"","restartPolicy":"Always","initContainers":[{"name":"i"}],
                "containers":[{"name":"ome-container","imagePullPolicy":"Always","ports":[{"containerPort":8000}]},{"name":"side"}]}"#,
        );
        let expected = parse(
            r#"{"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","terminationGracePeriodSeconds":30,"initContainers":[{"name":"i"}],
                "containers":[
                  {"name":"ome-container","imagePullPolicy":"Always","ports":[{"containerPort":8000}],"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
                   "readinessProbe":{"tcpSocket":{"port":8000},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}},
                  {"name":"side","imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}]}"#,
        );
        assert_eq!(deployment(&pod, &["ome-container"]), expected);
        assert_eq!(
            deployment(&deployment(&pod, &["ome-container"]), &["ome-container"]),
            expected,
            "defaults are written once"
        );
    }

    #[test]
    fn a_container_without_ports_is_probed_at_8080_and_only_in_deployments() {
        let pod = parse(r#"{"containers":[{"name":"ome-container"}]}"#);
        let port = |pod: &Node| {
            first_container(pod)
                .and_then(|container| container.at(&["readinessProbe", "tcpSocket", "port"]))
                .and_then(Node::as_int)
        };
        assert_eq!(port(&deployment(&pod, &["ome-container"])), Some(8080));
        assert_eq!(port(&leader_worker_set(&pod)), None);
    }

    #[test]
    fn ray_containers_stop_ray_unless_they_have_a_lifecycle() {
        let pod = parse(
            r#"{"containers":[{"name":"a","args":["x"]},{"name":"b","lifecycle":{"postStart":{}}}]}"#,
        );
        let expected = parse(
            r#"{"containers":[{"name":"a","args":["x"],"lifecycle":{"preStop":{"exec":{"command":["/bin/bash","-lc","ray stop"]}}}},{"name":"b","lifecycle":{"postStart":{}}}]}"#,
        );
        assert_eq!(ray_head(&pod), expected);
        let worker = ray_worker(&pod);
        for container in worker.get("containers").expect("containers").items() {
            assert_eq!(container.get("args").map(|args| args.items().len()), Some(1));
            assert_eq!(
                container.get("command").and_then(|command| command.items()[0].as_str()),
                Some("/bin/bash")
            );
        }
    }

    #[test]
    fn the_router_runs_as_its_own_account() {
        assert_eq!(
            router(&parse(r#"{"serviceAccountName":"mine"}"#), "chat-router"),
            parse(r#"{"serviceAccountName":"chat-router"}"#)
        );
    }
}
