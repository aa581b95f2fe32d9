//! dally-search
