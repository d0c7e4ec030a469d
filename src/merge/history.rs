//! Values that a merge overrode.
//!
//! The merge reports each overridden value to a [`Recorder`], which keeps it with its origin, so
//! that `why` can list them. One that is off keeps nothing, and builds no path.

use crate::source::Span;
use crate::yaml::{FieldPath, Node, Origin, Segment};
use ecow::EcoString;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

/// One step of the merge into the tree.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// The value of a key.
    Field(&'a str),
    /// The list element that a key field identifies.
    Keyed(&'a str, &'a Node),
    /// The element of a list of scalars.
    Scalar(&'a Node),
}

impl Step<'_> {
    /// Returns the step as a segment of a path.
    pub(crate) fn segment(self) -> Segment {
        match self {
            Self::Field(name) => Segment::Field(name.into()),
            Self::Keyed(key, value) => {
                Segment::Keyed(key.into(), value.scalar_text().unwrap_or_default())
            }
            Self::Scalar(value) => {
                Segment::Keyed(EcoString::new(), value.scalar_text().unwrap_or_default())
            }
        }
    }
}

/// What an action of a template printed.
#[derive(Clone, Debug)]
pub struct Filled {
    /// The action, without its braces.
    pub action: EcoString,
    /// What it printed.
    pub value: EcoString,
    /// Who wrote the value that it reads.
    pub from: Origin,
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(field: &'a str) -> Self {
        Self::Field(field)
    }
}

/// One overridden value.
#[derive(Clone, Debug)]
pub struct Overridden {
    /// Its path.
    pub path: FieldPath,
    /// The overridden value, with its origin.
    pub loser: Node,
    /// The value that replaced it; `None` when it was removed.
    pub winner: Option<Node>,
}

impl Overridden {
    /// Reports whether the later layer set the same value, so only the origin changed.
    pub fn restated(&self) -> bool {
        self.winner.as_ref() == Some(&self.loser)
    }
}

/// Records every overridden value, in the order of the merges.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Nothing is recorded otherwise.
    on: bool,
    place: FieldPath,
    overridden: Vec<Overridden>,
    /// What filled each template in, by its place.
    filled: HashMap<Span, Vec<Filled>>,
}

impl Recorder {
    /// Builds an empty history for merges of whole trees.
    pub fn new() -> Self {
        Self { on: true, ..Self::default() }
    }

    /// Builds a history that records nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// Reports whether it records overridden values.
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Sets the path of the tree of the next merges; all recorded paths start with it.
    pub fn stand(&mut self, place: FieldPath) {
        self.place = place;
    }

    /// Returns what filled the template at a place in, in order.
    pub fn filled(&self, text: Span) -> impl Iterator<Item = &Filled> {
        self.filled.get(&text).into_iter().flatten()
    }

    /// Returns every overridden value, oldest first.
    pub fn all(&self) -> &[Overridden] {
        &self.overridden
    }

    /// Returns the overridden values at a path, nearest layer first: values at that path, and parts
    /// of larger values that were replaced as a whole. A path identifies list elements as the merge
    /// does: by key if the list has one.
    pub fn overridden_at<'a>(&'a self, path: &FieldPath) -> Vec<Lost<'a>> {
        let mut found = Vec::new();
        // Merges are recorded lowest layer first; the reader wants the layer just below the
        // winner.
        for entry in self.overridden.iter().rev() {
            let Some(rest) = path.0.strip_prefix(entry.path.0.as_slice()) else { continue };
            let rest = FieldPath(rest.to_vec());
            // A winner without this part removed it: a list that was replaced as a whole is
            // shorter.
            let winner = entry.winner.as_ref().and_then(|node| node.select(&rest).first().copied());
            found.extend(entry.loser.select(&rest).first().map(|loser| Lost { loser, winner }));
        }
        found
    }

    /// Returns the overridden values at or below a path, oldest first.
    pub fn overridden_below<'a>(
        &'a self,
        path: &'a FieldPath,
    ) -> impl Iterator<Item = &'a Overridden> {
        self.overridden.iter().filter(|entry| entry.path.0.starts_with(&path.0))
    }
}

/// An overridden value at a requested path.
#[derive(Clone, Copy, Debug)]
pub struct Lost<'a> {
    /// The overridden value.
    pub loser: &'a Node,
    /// The value that replaced it there.
    pub winner: Option<&'a Node>,
}

impl Lost<'_> {
    /// Reports whether the later layer set the same value.
    pub fn restated(&self) -> bool {
        self.winner == Some(self.loser)
    }
}

impl Recorder {
    /// The recorder one step down in the path of what is recorded.
    #[inline]
    pub(crate) fn at<'s>(&mut self, step: impl Into<Step<'s>>) -> Cursor<'_> {
        self.at_end_of([step.into()])
    }

    /// The recorder at the end of these steps.
    #[inline]
    pub(crate) fn at_end_of<'s>(
        &mut self,
        steps: impl IntoIterator<Item = Step<'s>>,
    ) -> Cursor<'_> {
        let depth = self.place.0.len();
        if self.on {
            self.place.0.extend(steps.into_iter().map(Step::segment));
        }
        Cursor { recorder: self, depth }
    }

    /// Goes one step down, for those who cannot hold a cursor.
    #[inline]
    pub(super) fn enter(&mut self, step: Step<'_>) {
        if self.on {
            self.place.0.push(step.segment());
        }
    }

    /// Goes one step up.
    #[inline]
    pub(super) fn leave(&mut self) {
        if self.on {
            self.place.0.pop();
        }
    }

    /// Records that `winner` replaced `loser` at the current path; `None`: `loser` was removed.
    #[inline]
    pub(crate) fn lost(&mut self, loser: &Node, winner: Option<&Node>) {
        if self.on {
            // Clones are cheap: trees share their parts.
            self.overridden.push(Overridden {
                path: self.place.clone(),
                loser: loser.clone(),
                winner: winner.cloned(),
            });
        }
    }

    /// Records that an action of the template at `text` printed a value, which `filled` has.
    #[inline]
    pub(crate) fn fill(&mut self, text: Span, filled: impl FnOnce() -> Filled) {
        if self.on {
            self.filled.entry(text).or_default().push(filled());
        }
    }
}

/// A recorder further down in the path; at its end the recorder is where it was.
#[derive(Debug)]
pub(crate) struct Cursor<'r> {
    recorder: &'r mut Recorder,
    /// Length of the path above.
    depth: usize,
}

impl Deref for Cursor<'_> {
    type Target = Recorder;

    fn deref(&self) -> &Recorder {
        self.recorder
    }
}

impl DerefMut for Cursor<'_> {
    fn deref_mut(&mut self) -> &mut Recorder {
        self.recorder
    }
}

impl Drop for Cursor<'_> {
    #[inline]
    fn drop(&mut self) {
        self.recorder.place.0.truncate(self.depth);
    }
}
