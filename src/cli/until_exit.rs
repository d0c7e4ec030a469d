//! What is left to the end of the process, which frees all of its memory at once.

use std::ops::{Deref, DerefMut};

/// A value that is not freed piece by piece when a command ends: the objects of a large cluster are
/// millions of pieces.
pub(super) struct UntilExit<T> {
    /// Always there before the drop.
    value: Option<T>,
    is_left: bool,
}

impl<T> UntilExit<T> {
    /// A value of a run; one that is `repeated` in this process is freed as any other.
    pub(super) fn new(value: T, repeated: bool) -> Self {
        Self { value: Some(value), is_left: !repeated }
    }
}

impl<T> Deref for UntilExit<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("the value is taken by the drop alone")
    }
}

impl<T> DerefMut for UntilExit<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("the value is taken by the drop alone")
    }
}

impl<T> Drop for UntilExit<T> {
    fn drop(&mut self) {
        if self.is_left {
            std::mem::forget(self.value.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn a_value_of_a_repeated_run_is_freed() {
        for (repeated, left) in [(true, 1), (false, 2)] {
            let value = Rc::new(());
            drop(UntilExit::new(Rc::clone(&value), repeated));
            assert_eq!(Rc::strong_count(&value), left);
        }
    }
}
