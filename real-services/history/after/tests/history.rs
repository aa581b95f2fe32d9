#[path = "../../tests.rs"]
mod tests;
