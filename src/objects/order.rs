//! The order of keys in printed objects.

use crate::schema;
use crate::yaml::Node;

/// Brings an object into the order in which kubectl users read it: `apiVersion`, `kind`,
/// `metadata`, then as the Go structs declare the fields. Unknown fields keep their order.
/// Labels and annotations are sorted where they are made.
pub fn order(object: &mut Node) {
    let text = |key: &str| object.get(key).and_then(Node::as_str);
    let found = text("apiVersion")
        .zip(text("kind"))
        .and_then(|(api_version, kind)| schema::kind(api_version, kind));
    if let Some(schema) = found {
        schema::order(object, schema.root());
    // There is no schema of RayClusters.
    } else if text("kind") == Some("RayCluster") {
        pods_of_ray(object);
    }
}

/// Ray's own fields keep the order in which they were built; its pods are ordered as other pods.
fn pods_of_ray(object: &mut Node) {
    let Some(pod) = schema::structure("PodSpec") else { return };
    let Some(spec) =
        object.as_map_mut().and_then(|object| object.get_mut("spec")).and_then(Node::as_map_mut)
    else {
        return;
    };
    let in_group = |group: &mut Node| {
        let template = group
            .as_map_mut()
            .and_then(|group| group.get_mut("template"))
            .and_then(Node::as_map_mut);
        if let Some(spec) = template.and_then(|template| template.get_mut("spec")) {
            schema::order(spec, pod);
        }
    };
    spec.get_mut("headGroupSpec").into_iter().for_each(in_group);
    for group in spec
        .get_mut("workerGroupSpecs")
        .and_then(Node::as_list_mut)
        .into_iter()
        .flat_map(ecow::EcoVec::make_mut)
    {
        in_group(group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::parse;

    #[test]
    fn pods_of_ray_are_ordered_too() {
        let mut object = parse(
            r#"{"apiVersion":"ray.io/v1","kind":"RayCluster","spec":{"headGroupSpec":{"template":{"spec":{"restartPolicy":"Always","containers":[]}}},"workerGroupSpecs":[{"template":{"spec":{"restartPolicy":"Always","containers":[]}}}]}}"#,
        );
        order(&mut object);
        let expected = r#"{"apiVersion":"ray.io/v1","kind":"RayCluster","spec":{"headGroupSpec":{"template":{"spec":{"containers":[],"restartPolicy":"Always"}}},"workerGroupSpecs":[{"template":{"spec":{"containers":[],"restartPolicy":"Always"}}}]}}"#;
        assert_eq!(object.to_json().to_string(), expected);
    }

    #[test]
    fn fields_are_ordered_as_declared_in_go() {
        let mut object = parse(
            r#"{"kind":"Deployment","spec":{"template":{"spec":{"restartPolicy":"Always","containers":[{"args":["a"],"image":"i","name":"n"}]}},"selector":{}},"metadata":{"labels":{"b":"1","a":"2"},"name":"x"},"apiVersion":"apps/v1"}"#,
        );
        order(&mut object);
        let expected = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x","labels":{"b":"1","a":"2"}},"spec":{"selector":{},"template":{"spec":{"containers":[{"name":"n","image":"i","args":["a"]}],"restartPolicy":"Always"}}}}"#;
        assert_eq!(object.to_json().to_string(), expected);
    }
}
