//! The next step where an object was not read.

/// The next step where an object is named that was not read.
pub fn step_to_load(what: &str) -> String {
    format!("load the {what} {WITH_FLAG}")
}

const WITH_FLAG: &str = "with `-f`";

/// Whether a next step is [`step_to_load`], to which the path that has the object can be added.
pub fn is_step_to_load(help: &str) -> bool {
    ["load the ", "load it "].iter().any(|start| help.starts_with(start))
        && help.ends_with(WITH_FLAG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_for_an_object_that_was_not_read_is_told_from_others() {
        assert!(is_step_to_load(&step_to_load("runtime")) && is_step_to_load("load it with `-f`"));
        assert!(!is_step_to_load("load the class with `-f`, or delete the annotation"));
        assert!(!is_step_to_load("correct the name, or load the weight with `-f`"));
    }
}
