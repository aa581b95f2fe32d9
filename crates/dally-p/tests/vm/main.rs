//! What programs do when they run, clause by clause of the language.

mod conditions;
mod directives;
mod driver;
mod machines;
mod prints;
mod queues;
mod receives;
mod scheduling;
mod specs;
mod values;
