//! See `../tests.rs`.
