use dally::Input;
use dally::tasks::{input, input_in};

#[dally::test]
async fn a_discount_never_makes_a_price_negative() {
    let price = input_in("price", 0..=1_000_000);
    let percent = input(Input::named("percent").within(0..=100).by_default(10));
    assert!(price - price * percent / 100 >= 0);
}
