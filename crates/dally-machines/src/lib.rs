//! dally-machines
