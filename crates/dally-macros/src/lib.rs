//! dally-macros
