//! Every planted bug is caught, and every correct version passes.

mod calculator;
mod hunt;
mod messaging;
mod services;
mod shared_memory;
mod tasks;
mod two_phase_commit;
