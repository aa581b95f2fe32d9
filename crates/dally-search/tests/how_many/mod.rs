//! How many random programs the claims of each search are tried with.

/// 20,000, or what the variable says:
///
/// `DALLY_PROGRAMS=100000 cargo test --release -p dally-search --test strata --test liveness --test
/// sampling -- --nocapture what_is_true exactly_if_there_is_one random_programs`
///
/// Each of these tests prints how many programs it has tried, and of what kinds they were.
pub fn programs() -> u64 {
    std::env::var("DALLY_PROGRAMS").map_or(20_000, |number| number.parse().expect("a number"))
}
