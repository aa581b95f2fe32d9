//! Tests of published crates under `cargo dally test`: see `tests/`.
