//! Exit codes, one table for all commands (README.md, Exit codes).

/// Done; nothing to complain about, or nothing changed.
pub const DONE: u8 = 0;
/// Could not: a bad flag, unreadable or invalid input, a service in error.
pub const COULD_NOT: u8 = 1;
/// Done, and the answer is no: findings, changes, pods that do not fit.
pub const NO: u8 = 2;
/// A bug of this tool.
pub const INTERNAL: u8 = 3;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Done.
    Done,
    /// Done, and the answer is no.
    No,
    /// Could not.
    CouldNot,
}

impl Outcome {
    /// Its exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => DONE,
            Self::No => NO,
            Self::CouldNot => COULD_NOT,
        }
    }

    /// The graver of two outcomes.
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_outcome_decides_the_exit_code() {
        for (one, other, code) in [
            (Outcome::Done, Outcome::Done, DONE),
            (Outcome::Done, Outcome::No, NO),
            (Outcome::No, Outcome::CouldNot, COULD_NOT),
            (Outcome::Done, Outcome::CouldNot, COULD_NOT),
        ] {
            assert_eq!(one.and(other).code(), code, "{one:?} {other:?}");
            assert_eq!(other.and(one).code(), code, "{other:?} {one:?}");
        }
    }
}
