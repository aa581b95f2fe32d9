//! Runtimes.
