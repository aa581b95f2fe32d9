//! MPIL.
