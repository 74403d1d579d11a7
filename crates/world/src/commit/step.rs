//! Where a crash is tried out.

/// Stands between two things that reach the disk. Does nothing, except in the tests that die here.
#[cfg(not(test))]
pub(crate) const fn step() {}

#[cfg(test)]
pub(crate) use self::dying::{DIED, die_after, step};

#[cfg(test)]
mod dying {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

    /// The exit code of a process that died on purpose.
    pub(crate) const DIED: i32 = 42;

    /// Lets this process die at the `steps`th step from now, without cleaning up.
    pub(crate) fn die_after(steps: usize) {
        LEFT.store(steps, Ordering::SeqCst);
    }

    #[expect(clippy::exit, reason = "a crash runs no destructors, and neither does this")]
    pub(crate) fn step() {
        if LEFT.load(Ordering::SeqCst) != usize::MAX && LEFT.fetch_sub(1, Ordering::SeqCst) == 0 {
            std::process::exit(DIED);
        }
    }
}
