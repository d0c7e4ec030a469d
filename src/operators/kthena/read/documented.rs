//! The limits of the Kthena blog, and the assumptions of every release of Kthena.

use super::ROLE_NAME_LENGTH;
use crate::api::{RecoveryPolicy, RolloutType};
use crate::diag::{Code, Diagnostic, nearest};
use crate::operators::kthena::releases::RELEASES;
use crate::operators::kthena::rules::{KthenaRelease, Rules as _};
use crate::quantity::{IntOrPercent, names};
use crate::schema::choices;
use crate::yaml::{Node, Value};

/// Adds violations of the document. Types, enums and absent fields are checked by the schema.
pub(super) fn check(
    document: &Node,
    policy: &KthenaRelease,
    is_checked: bool,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut check = Check { diagnostics };
    let release = Release { policy, is_checked };
    let Some(spec) = document.get("spec").filter(|spec| !spec.is_null()) else {
        // The CRD does not require `spec`, but a ModelServing without roles has no pods.
        check.report(
            Code::RequiredField,
            document,
            "spec",
            "`spec` is required".to_owned(),
            "write `spec` with `template.roles`".to_owned(),
        );
        return;
    };
    check.count(spec.get("replicas"), "spec.replicas");
    check.choice(
        spec.get("recoveryPolicy"),
        "spec.recoveryPolicy",
        ("None", |policy| policy.recovery_none),
        release,
        &[RecoveryPolicy::ServingGroupRecreate.as_str(), RecoveryPolicy::RoleRecreate.as_str()],
    );
    let strategy = spec.get("rolloutStrategy");
    check.choice(
        strategy.and_then(|strategy| strategy.get("type")),
        "spec.rolloutStrategy.type",
        (RolloutType::Role.as_str(), |policy| policy.role_rolling_update),
        release,
        &[RolloutType::ServingGroup.as_str()],
    );
    let rolling = strategy.and_then(|strategy| strategy.get("rollingUpdateConfiguration"));
    for field in ["partition", "maxUnavailable"] {
        check.share(
            rolling.and_then(|rolling| rolling.get(field)),
            &format!("spec.rolloutStrategy.rollingUpdateConfiguration.{field}"),
        );
    }
    check.beyond(spec, rolling);
    let Some(template) = spec.get("template") else { return };
    check.count(
        template.get("restartGracePeriodSeconds"),
        "spec.template.restartGracePeriodSeconds",
    );
    let roles = template.get("roles").map_or(&[][..], Node::items);
    check.roles(document, spec, roles, policy);
    if let Some(minima) = template.at(&["gangPolicy", "minRoleReplicas"]) {
        check.gang(minima, roles);
    }
}

/// The rules that are followed, and what they are followed for.
#[derive(Clone, Copy)]
struct Release<'p> {
    policy: &'p KthenaRelease,
    /// The input itself is checked, and not planned.
    is_checked: bool,
}

pub(super) struct Check<'d> {
    pub(super) diagnostics: &'d mut Vec<Diagnostic>,
}

impl Check<'_> {
    pub(super) fn report(
        &mut self,
        code: Code,
        node: &Node,
        path: &str,
        message: String,
        help: impl Into<Option<String>>,
    ) {
        self.diagnostics.push(
            Diagnostic::new(code, message)
                .at(node.origin.span())
                .path(path)
                .maybe_help(help.into()),
        );
    }

    /// A number of things must not be negative (Kthena blog, A Deep Dive of ModelServing,
    /// Instance-Level Gang Scheduling).
    fn count(&mut self, node: Option<&Node>, path: &str) {
        if let Some((node, number)) = node.and_then(|node| Some((node, node.as_int()?)))
            && number < 0
        {
            self.report(
                Code::InvalidValue,
                node,
                path,
                format!("`{path}` must be at least 0, not {number}"),
                "write 0 or more".to_owned(),
            );
        }
    }

    /// A value that only some releases have (Kthena blog, A Deep Dive of ModelServing, Rolling
    /// Update and Restart Policy). The schema lists the values of all releases: of a value that
    /// none has, the finding here names those of this profile.
    fn choice(
        &mut self,
        node: Option<&Node>,
        path: &str,
        (word, has): (&str, fn(&KthenaRelease) -> bool),
        release: Release<'_>,
        others: &[&str],
    ) {
        let Some((node, text)) = node.and_then(|node| Some((node, node.as_str()?))) else { return };
        if has(release.policy) || others.contains(&text) {
            return;
        }
        if text != word {
            let message = format!("`{path}`: unsupported value `{text}`");
            self.report(Code::InvalidValue, node, path, message, choices(text, others));
            return;
        }
        let since = RELEASES.into_iter().find(|release| has(release.kthena()));
        let since = since.map_or("a later release", |since| since.id.tag);
        let others = others.join(", ");
        let is_documented = release.policy.reads_later_values;
        let lacking = if is_documented { "the documents" } else { release.policy.name };
        let message =
            format!("`{path}`: `{word}` is a value of Kthena {since} and later, not of {lacking}");
        let is_newer = is_documented && !release.is_checked;
        let code = if is_newer { Code::NewerThanKnown } else { Code::InvalidValue };
        let help = "name the release that you run with `--kthena-profile`";
        let help =
            if is_newer { help.to_owned() } else { format!("write one of {others}, or {help}") };
        self.report(code, node, path, message, help);
    }

    /// A number or percentage (Kthena blog, A Deep Dive of ModelServing, Rolling Update).
    fn share(&mut self, node: Option<&Node>, path: &str) {
        let Some(node) = node else { return };
        let wrong = match &node.value {
            // The schema takes either type, so the text is judged here.
            Value::Str(text) => match IntOrPercent::parse_percent(text) {
                Ok(IntOrPercent::Percent(percent)) if (0..=100).contains(&percent) => None,
                Ok(_) => Some(format!("`{path}` must be between 0% and 100%, not `{text}`")),
                Err(_) => Some(format!("`{path}`: `{text}` is neither a number nor a percentage")),
            },
            _ => node
                .as_int()
                .filter(|number| *number < 0)
                .map(|number| format!("`{path}` must be at least 0, not {number}")),
        };
        if let Some(message) = wrong {
            self.report(
                Code::InvalidValue,
                node,
                path,
                message,
                "write a number of groups such as `2`, or a percentage such as `25%`".to_owned(),
            );
        }
    }

    /// A partition above the replicas protects groups that do not exist: legal, and rarely meant
    /// (Kthena blog, A Deep Dive of ModelServing, Rolling Update).
    fn beyond(&mut self, spec: &Node, rolling: Option<&Node>) {
        let replicas = spec.get("replicas").map_or(Some(1), Node::as_int);
        let partition = rolling.and_then(|rolling| rolling.get("partition"));
        if let (Some(replicas), Some(node)) = (replicas, partition)
            && let Some(partition) = node.as_int()
            && partition > replicas
            && replicas >= 0
        {
            self.report(
                Code::RolloutAllProtected,
                node,
                "spec.rolloutStrategy.rollingUpdateConfiguration.partition",
                format!("the partition {partition} is above the {replicas} replicas: no update reaches any group"),
                "write a partition from 0 to the replicas".to_owned(),
            );
        }
    }

    fn roles(&mut self, document: &Node, spec: &Node, roles: &[Node], policy: &KthenaRelease) {
        let name = document.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
        let groups = spec.get("replicas").and_then(Node::as_int).unwrap_or(1);
        for (index, role) in roles.iter().enumerate() {
            let path = format!("spec.template.roles[{index}]");
            if let Some(node) = role.get("name")
                && let Some(text) = node.as_str()
            {
                self.role_name(node, text, &format!("{path}.name"));
                if roles[..index]
                    .iter()
                    .any(|other| other.get("name").and_then(Node::as_str) == Some(text))
                {
                    self.report(
                        Code::DuplicateName,
                        node,
                        &format!("{path}.name"),
                        format!("`{path}.name`: two roles are named `{text}`"),
                        "rename one of them".to_owned(),
                    );
                } else {
                    self.pod_name(node, &longest_pod_name(name, groups, text, role));
                }
            }
            for field in ["replicas", "workerReplicas"] {
                self.count(role.get(field), &format!("{path}.{field}"));
            }
            for field in ["maxUnavailable", "partition"] {
                self.share(role.get(field), &format!("{path}.{field}"));
            }
            if let Some(partition) = role.get("partition").filter(|_| !policy.role_partition) {
                let path = format!("{path}.partition");
                self.report(
                    Code::InvalidValue,
                    partition,
                    &path,
                    format!("`{path}`: roles have no partition in this profile"),
                    "delete it, or set `--kthena-profile head`".to_owned(),
                );
            }
            // Workers of no template would have no container.
            if role.get("workerReplicas").and_then(Node::as_int).is_some_and(|workers| workers > 0)
                && role.get("workerTemplate").is_none()
            {
                let at = role.get("workerReplicas").unwrap_or(role);
                let path = format!("{path}.workerTemplate");
                self.report(
                    Code::RequiredField,
                    at,
                    &path,
                    format!("`{path}` is required when there are workers"),
                    "add `workerTemplate`".to_owned(),
                );
            }
        }
    }

    /// A role's name is part of names and labels (Kthena blog, A Deep Dive of ModelServing,
    /// ModelServing Architecture).
    fn role_name(&mut self, node: &Node, name: &str, path: &str) {
        // The length first: one finding for a name, the one that is easier to mend.
        let problem = if name.len() > ROLE_NAME_LENGTH {
            Some(format!(
                "has {} characters, at most {ROLE_NAME_LENGTH} are allowed",
                name.chars().count()
            ))
        } else if names::dns1035_label(name).is_empty() {
            None
        } else {
            Some("is no lower-case DNS label that begins with a letter".to_owned())
        };
        if let Some(problem) = problem {
            let help =
                "write at most 12 lower-case letters, digits and `-`, such as `prefill`".to_owned();
            self.report(
                Code::InvalidName,
                node,
                path,
                format!("`{path}`: the role name `{name}` {problem}"),
                help,
            );
        }
    }

    /// A pod's name is its host name and the name of its Service.
    fn pod_name(&mut self, node: &Node, pod: &str) {
        const MOST: usize = 63;
        if pod.len() > MOST {
            let message = format!(
                "the pod name `{pod}` has {} characters, at most {MOST} are allowed",
                pod.len()
            );
            self.report(
                Code::InvalidName,
                node,
                "metadata.name",
                message,
                "shorten the name of the ModelServing or of the role".to_owned(),
            );
        }
    }

    /// Bounds of minRoleReplicas (Kthena blog, A Deep Dive of ModelServing, Instance-Level Gang
    /// Scheduling).
    fn gang(&mut self, minima: &Node, roles: &[Node]) {
        let existing: Vec<&str> =
            roles.iter().filter_map(|role| role.get("name")?.as_str()).collect();
        for entry in minima.entries() {
            let path = format!("spec.template.gangPolicy.minRoleReplicas.{}", entry.key);
            let Some(role) = roles
                .iter()
                .find(|role| role.get("name").and_then(Node::as_str) == Some(&entry.key))
            else {
                let help = nearest(&entry.key, existing.iter().copied()).map_or_else(
                    || format!("the roles are {}", existing.join(", ")),
                    |name| format!("did you mean `{name}`? the roles are {}", existing.join(", ")),
                );
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::GangUnknownRole,
                        format!("`minRoleReplicas` names `{}`, which is no role", entry.key),
                    )
                    .at(entry.key_origin.span())
                    .path(path)
                    .help(help),
                );
                continue;
            };
            let replicas = role.get("replicas").map_or(Some(1), Node::as_int);
            let Some(minimum) = entry.node.as_int() else { continue };
            if minimum < 0 {
                self.report(
                    Code::InvalidValue,
                    &entry.node,
                    &path,
                    format!("`{path}` must be at least 0, not {minimum}"),
                    "write 0 or more".to_owned(),
                );
            } else if let Some(replicas) = replicas.filter(|replicas| minimum > *replicas) {
                let message = format!(
                    "`{path}`: the minimum {minimum} is above the {replicas} replicas of the role"
                );
                self.report(
                    Code::InvalidValue,
                    &entry.node,
                    &path,
                    message,
                    format!("write at most {replicas}"),
                );
            }
        }
    }
}

/// The longest name among the pods of a role.
fn longest_pod_name(name: &str, groups: i64, role: &str, node: &Node) -> String {
    // Ordinals begin at 0, so the last one is the longest.
    let last = |count: i64| count.max(1) - 1;
    let replicas = node.get("replicas").and_then(Node::as_int).unwrap_or(1);
    let workers = node.get("workerReplicas").and_then(Node::as_int).unwrap_or(0);
    format!("{name}-{}-{role}-{}-{}", last(groups), last(replicas), workers.max(0))
}

#[cfg(test)]
mod tests {
    use crate::testing::{ome, serving};

    /// A value of a release is planned, and the document's own check refuses it.
    #[test]
    fn values_of_releases_are_newer_than_the_document() {
        let written =
            |spec: &str| serving("s", "1", "1").replacen("spec:", &format!("spec:\n  {spec}"), 1);
        for (spec, flags, planned, checked) in [
            ("recoveryPolicy: None", "", "newer-than-known", "invalid-value"),
            ("rolloutStrategy: {type: RoleRollingUpdate}", "", "newer-than-known", "invalid-value"),
            ("recoveryPolicy: Never", "", "invalid-value", "invalid-value"),
            ("recoveryPolicy: None", "--kthena-profile v0.1", "", ""),
            (
                "rolloutStrategy: {type: RoleRollingUpdate}",
                "--kthena-profile v0.1",
                "invalid-value",
                "invalid-value",
            ),
        ] {
            for (command, expected) in [("plan", planned), ("validate", checked)] {
                let ran = ome(&format!("{command} {flags} -o json"), &written(spec));
                let found = ran.findings();
                let of_values = ["newer-than-known", "invalid-value"];
                let found = found.iter().find(|code| of_values.contains(&code.as_str()));
                assert_eq!(found.map_or("", String::as_str), expected, "{command} {flags}: {spec}");
                assert_eq!(ran.code == 0, expected != "invalid-value", "{command} {flags}: {spec}");
            }
        }
    }
}
