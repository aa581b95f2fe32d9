//! Sockets in memory.
