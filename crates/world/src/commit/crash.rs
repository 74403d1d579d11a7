//! Crashes, one at every step.
