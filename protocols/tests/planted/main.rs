//! Every planted bug is caught, and every correct version passes.

mod calculator;
mod hunt;
mod messaging;
mod tasks;
mod two_phase_commit;
