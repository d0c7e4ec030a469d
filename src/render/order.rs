//! The order of keys in print.

use crate::schema;
use crate::yaml::Node;

/// Brings an object into the order in which kubectl users read it: `apiVersion`, `kind`, `metadata`, then as the Go
/// structs declare the fields. What no schema knows keeps its order. Labels and annotations are sorted where they are
/// made.
pub fn order(object: &mut Node) {
    let text = |key: &str| object.get(key).and_then(Node::as_str);
    let found = text("apiVersion").zip(text("kind")).and_then(|(api_version, kind)| schema::kind(api_version, kind));
    if let Some(schema) = found {
        schema::order(object, schema.root());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::parse;

    #[test]
    fn fields_stand_as_go_declares_them() {
        let mut object = parse(
            r#"{"kind":"Deployment","spec":{"template":{"spec":{"restartPolicy":"Always","containers":[{"args":["a"],"image":"i","name":"n"}]}},"selector":{}},"metadata":{"labels":{"b":"1","a":"2"},"name":"x"},"apiVersion":"apps/v1"}"#,
        );
        order(&mut object);
        let expected = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x","labels":{"b":"1","a":"2"}},"spec":{"selector":{},"template":{"spec":{"containers":[{"name":"n","image":"i","args":["a"]}],"restartPolicy":"Always"}}}}"#;
        assert_eq!(object.to_json().to_string(), expected);
    }
}
