#[dally::test(shedules = 10)]
async fn a_misspelt_option() {}

#[dally::test(strategy = "ptc:3")]
async fn a_misspelt_strategy() {}

#[dally::test(strategy = "pct:0")]
async fn a_strategy_without_change_points() {}

#[dally::test(search = "sse")]
async fn a_misspelt_search() {}

#[dally::test(explorer = "rrr")]
async fn a_misspelt_explorer() {}

#[dally::test(fairness = "stron")]
async fn a_misspelt_fairness() {}

#[dally::test(time = "30")]
async fn a_time_without_a_unit() {}

#[dally::test(time = 30)]
async fn a_time_that_is_a_number() {}

#[dally::test(memory = "2X")]
async fn an_unknown_unit_of_memory() {}

#[dally::test(schedules = 0)]
async fn nothing_is_run() {}

#[dally::test(schedules = "many")]
async fn a_count_that_is_a_text() {}

#[dally::test(delays = 5_000_000_000)]
async fn a_count_that_does_not_fit() {}

#[dally::test(shrink = "off")]
async fn a_switch_that_is_a_text() {}

fn main() {}
