//! dally
