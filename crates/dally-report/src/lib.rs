//! dally-report
