fn how_many() -> &'static str {
    "two"
}

fn main() {
    let test = dally::testing::Test::new("crate", "crate::test");
    let _ = test.threads(how_many()).time(30);
}
