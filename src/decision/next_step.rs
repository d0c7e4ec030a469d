//! What to do where no runtime fits a service, as sentences with a command.

use super::RuntimeDecision;
use crate::api::Service;
use crate::diag::quoted;

/// The next step where no runtime fits.
pub(crate) fn help_of_service(service: &Service, decision: &RuntimeDecision<'_>) -> String {
    if decision.rejected == 0 {
        return "load a ServingRuntime of the namespace or a ClusterServingRuntime with `-f`: none \
                was read"
            .to_owned();
    }
    let service = quoted(&format!("{}/{}", service.namespace, service.name()));
    format!("`ome explain {service}` {NEAREST_MISS}")
}

const NEAREST_MISS: &str = "shows the nearest miss";

/// Whether a next step is [`help_of_service`], which the name of the nearest runtime can replace.
pub(crate) fn is_open(help: &str) -> bool {
    // The sentence is recognized by its two ends: between them is a name of any form.
    help.starts_with("`ome explain ") && help.ends_with(NEAREST_MISS)
}

/// The next step where one runtime does not fit, with its name.
pub(crate) fn help_of_runtime(service: &Service, runtime: &str) -> String {
    help_of_nearest(&service.namespace, service.name(), runtime)
}

/// The same by the name of the service.
pub(crate) fn help_of_nearest(namespace: &str, name: &str, runtime: &str) -> String {
    let service = quoted(&format!("{namespace}/{name}"));
    format!(
        "`ome explain {service} --runtime {}` shows the edits that make it fit, if there are any",
        quoted(runtime)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_next_step_is_a_command_that_a_shell_takes() {
        let help = help_of_nearest("team", "chat", "vllm");
        assert!(help.starts_with("`ome explain team/chat --runtime vllm` "), "{help}");
        let help = help_of_nearest("team", "two words", "it's");
        assert!(help.contains("'team/two words'"), "{help}");
        assert!(help.contains(r"'it'\''s'"), "{help}");
    }

    #[test]
    fn the_general_next_step_is_told_from_others() {
        assert!(is_open(&format!("`ome explain a/b` {NEAREST_MISS}")));
        assert!(!is_open(&help_of_nearest("a", "b", "c")));
        assert!(!is_open("load a ServingRuntime"));
    }

    #[test]
    fn the_next_step_of_a_nearest_runtime_names_service_and_runtime() {
        let help = help_of_nearest("ml", "a", "rt");
        assert!(help.starts_with("`ome explain ml/a --runtime rt`"), "{help}");
        assert!(!is_open(&help));
    }
}
