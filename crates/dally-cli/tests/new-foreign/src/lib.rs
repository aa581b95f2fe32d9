pub fn foreign() -> dally::p::vm::Foreign {
    Default::default()
}
