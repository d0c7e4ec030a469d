//! Where a judge stands in an object: a chain up to the root that becomes a path only when
//! something is found.

use std::fmt;

/// A place in an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    above: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// The object itself.
    pub(super) const ROOT: At<'static> = At { above: None, step: Step::Root };

    /// A field of a struct.
    pub(super) fn field(&'a self, name: &'a str) -> At<'a> {
        At { above: Some(self), step: Step::Field(name) }
    }

    /// A key of a map, which the server prints in brackets.
    pub(super) fn key(&'a self, key: &'a str) -> At<'a> {
        At { above: Some(self), step: Step::Key(key) }
    }

    /// An element of a list.
    pub(super) fn index(&'a self, index: usize) -> At<'a> {
        At { above: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for At<'_> {
    /// As the API server prints paths: `spec.containers[0].resources.limits[cpu]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(above) = self.above else { return Ok(()) };
        above.fmt(f)?;
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) if matches!(above.step, Step::Root) => f.write_str(name),
            Step::Field(name) => write!(f, ".{name}"),
            Step::Key(key) => write!(f, "[{key}]"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}
