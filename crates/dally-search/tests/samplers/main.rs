//! The samplers keep what they promise, on programs small enough to enumerate.

mod chains;
mod partial_orders;
mod periods;
mod programs;
mod uniform;
