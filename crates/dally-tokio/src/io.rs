//! Traits and adapters of tokio itself.

pub use tokio_real::io::*;
