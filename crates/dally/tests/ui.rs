//! What the compiler says about machines and monitors with mistakes in them.

#[test]
fn mistakes_get_messages_that_say_what_to_do() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
