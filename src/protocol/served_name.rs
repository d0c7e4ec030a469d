//! The name under which a model server serves its model.
//!
//! In: the workload of a service. Out: the name that clients must use, when an argument or variable
//! sets it.

use crate::yaml::{Node, Value};

/// Flags of SGLang, vLLM and the servers of KServe.
const FLAGS: [&str; 4] =
    ["--served-model-name", "--served_model_name", "--model-name", "--model_name"];

/// Returns the name under which a container of the workload serves the model: the last value of the
/// first flag found.
///
/// The arguments can be a single shell text. A reference `$(NAME)` is resolved with the container's
/// own variables. For MLServer, a variable sets the name and takes precedence over arguments.
pub fn served_model(workload: &Node) -> Option<String> {
    let mut found = None;
    containers(workload, &mut |container| {
        // The first container of the tree that names a model: sidecars come after it.
        if found.is_none() {
            found = of_container(container);
        }
    });
    found
}

/// Calls `visit` for the containers of every pod in a tree, in tree order.
fn containers(node: &Node, visit: &mut impl FnMut(&Node)) {
    match &node.value {
        Value::Map(map) => {
            for entry in map {
                if entry.key == "containers" {
                    entry.node.items().iter().for_each(&mut *visit);
                }
                containers(&entry.node, visit);
            }
        }
        Value::List(items) => items.iter().for_each(|item| containers(item, visit)),
        _ => {}
    }
}

fn of_container(container: &Node) -> Option<String> {
    let env = container.get("env").map(Node::items).unwrap_or_default();
    let at = |name: &str| {
        env.iter()
            // Of two variables with one name Kubernetes takes the last.
            .rev()
            .find(|entry| entry.get("name").and_then(Node::as_str) == Some(name))?
            .get("value")?
            .as_str()
    };
    if let Some(name) = at("MLSERVER_MODEL_NAME").filter(|name| !name.is_empty()) {
        return Some(name.to_owned());
    }
    let texts = ["command", "args"]
        .into_iter()
        .filter_map(|key| container.get(key))
        .flat_map(Node::items)
        .filter_map(Node::as_str);
    let mut words = texts
        .flat_map(str::split_whitespace)
        // A shell text may have quotes around words, and backslashes at the ends of its lines.
        .map(|word| word.trim_matches(['"', '\'', '\\']))
        .filter(|word| !word.is_empty())
        .peekable();
    let mut name = None;
    while let Some(word) = words.next() {
        let (flag, value) =
            word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
        if FLAGS.contains(&flag) {
            name = value
                // A flag without a value is followed by the next flag.
                .or_else(|| words.peek().copied().filter(|next| !next.starts_with("--")))
                .or(name);
        }
    }
    let name = name?.trim_matches(['"', '\'']);
    let Some(variable) = name.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')) else {
        return Some(name.to_owned());
    };
    at(variable).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};
    use serde_json::json;

    static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

    #[test]
    fn arguments_name_the_model() {
        for (args, expected) in [
            (json!(["--model", "/m", "--served-model-name", "chat"]), Some("chat")),
            (json!(["--served-model-name=chat", "--port=8080"]), Some("chat")),
            (json!(["--model_name=a", "--model_name", "b"]), Some("b")),
            (
                json!([
                    "-c",
                    "python3 -m sglang.launch_server \\\n  --served-model-name 'chat' \\\n  --port 8080\n"
                ]),
                Some("chat"),
            ),
            (json!(["--served-model-name", "$(MODEL_NAME)"]), Some("from-env")),
            (json!(["--served-model-name", "$(OTHER)"]), None),
            (json!(["--served-model-name", "--port"]), None),
            (json!(["--port", "8080"]), None),
        ] {
            let pod = json!({ "spec": { "template": { "spec": { "containers": [
                { "name": "sidecar", "args": ["--port", "1"] },
                { "name": "ome-container", "args": args, "env": [{ "name": "MODEL_NAME", "value": "from-env" }] },
            ] } } } });
            assert_eq!(
                served_model(&Node::from_json(&pod, Origin::Default(&TEST))).as_deref(),
                expected,
                "{args}"
            );
        }
        let env = json!([{ "name": "MLSERVER_MODEL_NAME", "value": "own" }]);
        let pod = json!({ "containers": [{ "name": "kserve-container", "args": ["--model_name=a"], "env": env }] });
        assert_eq!(
            served_model(&Node::from_json(&pod, Origin::Default(&TEST))).as_deref(),
            Some("own")
        );
    }
}
