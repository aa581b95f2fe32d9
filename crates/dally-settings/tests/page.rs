//! What is written of settings is what the table says. `INSTA_UPDATE=always cargo test -p
//! dally-settings` writes it anew, as it does for snapshots.

use std::path::Path;

fn is_written_in(path: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, expected).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "{} is not what the table of settings says: run INSTA_UPDATE=always cargo test -p \
         dally-settings",
        path.display()
    );
}

#[test]
fn the_reference_page_is_that_of_the_table() {
    is_written_in("../../docs/settings.md", &dally_settings::page());
}

#[test]
fn the_options_in_the_documentation_of_the_attribute_are_those_of_the_table() {
    is_written_in("../dally-macros/src/options.md", &dally_settings::options());
}
