//! The rules of the admission webhook (pkg/model-serving-controller/webhook/validator.go), and the
//! one rule of the CRD that a schema cannot hold. They are in the order of its
//! validateModelServing.
//!
//! The tree has the CRD's defaults. Messages are the webhook's, after the path, as in a cluster.

use super::documented::Check;
use crate::api::{RecoveryPolicy, RolloutType};
use crate::diag::Code;
use crate::quantity::{IntOrPercent, IntOrPercentError, Rounding, go_quote, names};
use crate::yaml::{Node, Value};

/// Adds the violations of the CRD and the webhook.
pub(super) fn check(stored: &Node, diagnostics: &mut Vec<crate::diag::Diagnostic>) {
    let Some(spec) = stored.get("spec").filter(|spec| !spec.is_null()) else {
        // The CRD does not request `spec`, and its defaults are below it; the webhook finds
        // neither replicas nor roles.
        let message = "`spec.replicas`: invalid value null: replicas must be a non-negative integer; `spec.template.roles`: roles must be specified";
        // One finding for both messages: one edit mends them.
        Check { diagnostics }.report(
            Code::RequiredField,
            stored,
            "spec",
            message.to_owned(),
            "write `spec` with `template.roles`".to_owned(),
        );
        return;
    };
    let roles = spec.at(&["template", "roles"]).map_or(&[][..], Node::items);
    let mut check = Check { diagnostics };
    check.unique_roles(roles);
    check.generated_names(stored, spec, roles);
    check.role_names(roles);
    check.images(roles);
    check.replicas(spec, roles);
    check.rollout(spec);
    check.role_rollout(spec, roles);
    check.gang_minima(spec, roles);
    check.workers(roles);
    check.pair(spec);
}

/// `Invalid value`, with the value as the API server prints it.
fn invalid(path: &str, node: &Node, detail: &str) -> String {
    let value = match &node.value {
        Value::Str(text) => go_quote(text),
        _ => node.to_json().to_string(),
    };
    format!("`{path}`: invalid value {value}: {detail}")
}

fn name_of(role: &Node) -> &str {
    role.get("name").and_then(Node::as_str).unwrap_or_default()
}

fn is_role_rolling_update(spec: &Node) -> bool {
    spec.at(&["rolloutStrategy", "type"]).and_then(Node::as_str) == Some(RolloutType::Role.as_str())
}

impl Check<'_> {
    fn refuse(&mut self, node: &Node, path: &str, detail: &str) {
        self.report(Code::InvalidValue, node, path, invalid(path, node, detail), None);
    }

    fn forbid(&mut self, node: &Node, path: &str, detail: &str) {
        self.report(
            Code::ConflictingFields,
            node,
            path,
            format!("`{path}`: forbidden: {detail}"),
            "delete one of the two fields".to_owned(),
        );
    }

    fn unique_roles(&mut self, roles: &[Node]) {
        for (index, role) in roles.iter().enumerate() {
            if let Some(node) = role.get("name")
                && roles[..index].iter().any(|other| other.get("name") == Some(node))
            {
                let path = format!("spec.template.roles[{index}].name");
                self.report(
                    Code::DuplicateName,
                    node,
                    &path,
                    format!(
                        "`{path}`: roles name must be unique, `{}` is there twice",
                        name_of(role)
                    ),
                    None,
                );
            }
        }
    }

    /// The tested name has the counts in place of the greatest index of real names.
    fn generated_names(&mut self, stored: &Node, spec: &Node, roles: &[Node]) {
        let Some(node) = stored.at(&["metadata", "name"]) else { return };
        let name = node.as_str().unwrap_or_default();
        let count =
            |node: Option<&Node>, absent: i64| node.and_then(Node::as_int).unwrap_or(absent);
        for role in roles {
            let (groups, replicas, workers) = (
                count(spec.get("replicas"), 1),
                count(role.get("replicas"), 1),
                count(role.get("workerReplicas"), 0),
            );
            let problems = names::dns1035_label(&format!(
                "{name}-{groups}-{}-{replicas}-{workers}",
                name_of(role)
            ));
            if !problems.is_empty() {
                self.refuse(
                    node,
                    "metadata.name",
                    &format!("invalid name: {}", problems.join("; ")),
                );
            }
        }
    }

    fn role_names(&mut self, roles: &[Node]) {
        for (index, role) in roles.iter().enumerate() {
            let Some(node) = role.get("name") else { continue };
            let problems = names::dns1035_label(name_of(role));
            if !problems.is_empty() {
                let path = format!("spec.template.roles[{index}].name");
                let detail = format!(
                    "role name must be a valid DNS-1035 label (lowercase alphanumeric characters or '-', must start with a letter): {}",
                    problems.join("; ")
                );
                self.report(Code::InvalidName, node, &path, invalid(&path, node, &detail), None);
            }
        }
    }

    fn images(&mut self, roles: &[Node]) {
        for (index, role) in roles.iter().enumerate() {
            for template in ["entryTemplate", "workerTemplate"] {
                let containers =
                    role.at(&[template, "spec", "containers"]).map_or(&[][..], Node::items);
                for (position, container) in containers.iter().enumerate() {
                    let Some(node) = container.get("image") else { continue };
                    // An empty image is left to the API server.
                    let Some(image) = node.as_str().filter(|image| !image.is_empty()) else {
                        continue;
                    };
                    let detail = if image.trim().is_empty() {
                        "invalid container image reference: image cannot be empty or whitespace only"
                    } else if image.contains(' ') {
                        "invalid container image reference: image cannot contain spaces"
                    } else {
                        continue;
                    };
                    self.refuse(node, &format!("spec.template.roles[{index}].{template}.spec.containers[{position}].image"), detail);
                }
            }
        }
    }

    fn replicas(&mut self, spec: &Node, roles: &[Node]) {
        let negative = |node: &Node| node.as_int().is_some_and(|number| number < 0);
        if let Some(node) = spec.get("replicas").filter(|node| negative(node)) {
            self.refuse(node, "spec.replicas", "replicas must be a non-negative integer");
        }
        for (index, role) in roles.iter().enumerate() {
            if let Some(node) = role.get("replicas").filter(|node| negative(node)) {
                self.refuse(
                    node,
                    &format!("spec.template.roles[{index}].replicas"),
                    "role replicas must be a non-negative integer",
                );
            }
        }
    }

    /// A number that is not negative, or a percentage up to 100%.
    fn int_or_percent(&mut self, node: &Node, path: &str) {
        match &node.value {
            Value::Str(text) => {
                let problems = names::percent(text);
                if !problems.is_empty() {
                    self.refuse(node, path, &problems.join("; "));
                } else if !matches!(
                    IntOrPercent::parse_percent(text),
                    Ok(IntOrPercent::Percent(..=100))
                ) {
                    self.refuse(node, path, "must be a valid percent value (0-100)");
                }
            }
            _ => {
                if node.as_int().is_some_and(|number| number < 0) {
                    self.refuse(node, path, "must be a non-negative integer");
                }
            }
        }
    }

    fn rollout(&mut self, spec: &Node) {
        let Some(strategy) = spec.get("rolloutStrategy") else { return };
        let path = "spec.rolloutStrategy.rollingUpdateConfiguration";
        let Some(rolling) = strategy.get("rollingUpdateConfiguration") else { return };
        // The webhook returns here: the numbers below are not read.
        if is_role_rolling_update(spec) {
            self.forbid(rolling, path, "rollingUpdateConfiguration is only valid when rolloutStrategy.type is ServingGroupRollingUpdate");
            return;
        }
        if let Some(node) = rolling.get("maxUnavailable") {
            let path = format!("{path}.maxUnavailable");
            self.int_or_percent(node, &path);
            let total = spec.get("replicas").and_then(Node::as_int).unwrap_or(1);
            // A small percentage of few groups is rounded down to nothing.
            match resolved(node, total, Rounding::Down) {
                Ok(0) => self.report(
                    Code::InvalidValue,
                    node,
                    "spec.rolloutStrategy.rollingUpdateConfiguration",
                    format!(
                        "`spec.rolloutStrategy.rollingUpdateConfiguration`: invalid value \"\": maxUnavailable cannot be 0, and {} of {total} replicas is",
                        text_of(node)
                    ),
                    "write a number of groups of 1 or more".to_owned(),
                ),
                Ok(_) => {}
                Err(error) => self.refuse(node, &path, &format!("invalid maxUnavailable: {error}")),
            }
        }
        if let Some(node) = rolling.get("partition") {
            self.int_or_percent(node, &format!("{path}.partition"));
        }
    }

    fn role_rollout(&mut self, spec: &Node, roles: &[Node]) {
        let by_role = is_role_rolling_update(spec);
        for (index, role) in roles.iter().enumerate() {
            let path = |field: &str| format!("spec.template.roles[{index}].{field}");
            if let Some(node) = role.get("partition") {
                if by_role {
                    self.int_or_percent(node, &path("partition"));
                } else {
                    self.forbid(
                        node,
                        &path("partition"),
                        "partition is only valid when rolloutStrategy.type is RoleRollingUpdate",
                    );
                }
            }
            let Some(node) = role.get("maxUnavailable").filter(|_| by_role) else { continue };
            let path = path("maxUnavailable");
            self.int_or_percent(node, &path);
            let replicas = role.get("replicas").and_then(Node::as_int).unwrap_or(1);
            match resolved(node, replicas, Rounding::Down) {
                Ok(0) => self.refuse(node, &path, "maxUnavailable cannot be 0"),
                Ok(most) if most > replicas => self.refuse(
                    node,
                    &path,
                    &format!("maxUnavailable cannot be greater than replicas ({replicas})"),
                ),
                Ok(_) => {}
                Err(error) => self.refuse(node, &path, &format!("invalid maxUnavailable: {error}")),
            }
        }
    }

    fn gang_minima(&mut self, spec: &Node, roles: &[Node]) {
        let minima = spec.at(&["template", "gangPolicy", "minRoleReplicas"]);
        for entry in minima.into_iter().flat_map(Node::entries) {
            let path = format!("spec.template.gangPolicy.minRoleReplicas[{}]", entry.key);
            let Some(role) = roles.iter().find(|role| name_of(role) == entry.key) else {
                let roles: Vec<&str> = roles.iter().map(name_of).collect();
                let help = crate::diag::nearest(&entry.key, roles.iter().copied())
                    .map(|name| format!("did you mean `{name}`?"));
                let message = format!(
                    "`{path}`: invalid value {}: role {} does not exist in template.roles",
                    go_quote(&entry.key),
                    entry.key
                );
                self.diagnostics.push(
                    crate::diag::Diagnostic::new(Code::GangUnknownRole, message)
                        .at(entry.key_origin.span())
                        .path(path)
                        .maybe_help(help),
                );
                continue;
            };
            let Some(minimum) = entry.node.as_int() else { continue };
            let replicas = role.get("replicas").and_then(Node::as_int).unwrap_or(1);
            if minimum < 0 {
                self.refuse(
                    &entry.node,
                    &path,
                    &format!("minRoleReplicas for role {} must be non-negative", entry.key),
                );
            } else if minimum > replicas {
                self.refuse(&entry.node, &path, &format!("minRoleReplicas ({minimum}) for role {} cannot exceed replicas ({replicas})", entry.key));
            }
        }
    }

    fn workers(&mut self, roles: &[Node]) {
        for (index, role) in roles.iter().enumerate() {
            let Some(node) = role.get("workerReplicas") else { continue };
            let Some(workers) = node.as_int() else { continue };
            if workers < 0 {
                self.refuse(
                    node,
                    &format!("spec.template.roles[{index}].workerReplicas"),
                    "workerReplicas must be a non-negative integer",
                );
            } else if workers > 0 && role.get("workerTemplate").is_none() {
                let path = format!("spec.template.roles[{index}].workerTemplate");
                let message = format!(
                    "`{path}`: required value: workerTemplate is required when workerReplicas is greater than 0"
                );
                self.report(
                    Code::RequiredField,
                    node,
                    &path,
                    message,
                    "add `workerTemplate`".to_owned(),
                );
            }
        }
    }

    /// The text of the webhook implies that other pairs are refused as well; this is the only one.
    fn pair(&mut self, spec: &Node) {
        let whole_group = spec.get("recoveryPolicy").and_then(Node::as_str)
            == Some(RecoveryPolicy::ServingGroupRecreate.as_str());
        if let Some(node) = spec
            .at(&["rolloutStrategy", "type"])
            .filter(|_| whole_group && is_role_rolling_update(spec))
        {
            let path = "spec.rolloutStrategy.type";
            let message = invalid(
                path,
                node,
                "incompatible recoveryPolicy and rolloutStrategy.type after applying defaults: recoveryPolicy=ServingGroupRecreate, rolloutStrategy.type=RoleRollingUpdate",
            );
            self.report(
                Code::ConflictingFields,
                node,
                path,
                message,
                "write `recoveryPolicy: RoleRecreate`".to_owned(),
            );
        }
    }
}

fn text_of(node: &Node) -> String {
    node.scalar_text().unwrap_or_default().to_string()
}

fn resolved(node: &Node, total: i64, rounding: Rounding) -> Result<i64, IntOrPercentError> {
    match &node.value {
        Value::Str(text) => {
            IntOrPercent::parse_percent(text).map(|share| share.scaled(total, rounding))
        }
        _ => Ok(node.as_int().unwrap_or(1)),
    }
}
