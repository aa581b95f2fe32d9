//! The snippets of the guide are tests, and the guide shows them as they are.

#[path = "guide/choosing_an_explorer_1.rs"]
mod choosing_an_explorer_1;
#[path = "guide/every_order_once_1.rs"]
mod every_order_once_1;
#[path = "guide/first_test_1.rs"]
mod first_test_1;
#[cfg(feature = "concolic")]
#[path = "guide/inputs_1.rs"]
mod inputs_1;
#[path = "guide/learning_1.rs"]
mod learning_1;
#[path = "guide/learning_2.rs"]
mod learning_2;
#[path = "guide/liveness_1.rs"]
mod liveness_1;
#[path = "guide/machines_1.rs"]
mod machines_1;
#[path = "guide/machines_3.rs"]
mod machines_3;
#[path = "guide/monitors_1.rs"]
mod monitors_1;
#[cfg(feature = "host")]
#[path = "guide/production_1.rs"]
mod production_1;
#[cfg(feature = "host")]
#[path = "guide/production_2.rs"]
mod production_2;
#[cfg(feature = "host")]
#[path = "guide/production_3.rs"]
mod production_3;
#[path = "guide/strategies_1.rs"]
mod strategies_1;
#[path = "guide/strategies_2.rs"]
mod strategies_2;
#[path = "guide/strategies_3.rs"]
mod strategies_3;
#[path = "guide/tasks_1.rs"]
mod tasks_1;
#[path = "guide/writing_an_explorer_1.rs"]
mod writing_an_explorer_1;
#[path = "guide/writing_an_explorer_2.rs"]
mod writing_an_explorer_2;

use std::fs;
use std::path::Path;

/// Pages that walk through an example, and which.
const WALKED: [(&str, &str); 2] =
    [("writing_a_front_end", "own_front_end"), ("writing_a_search", "own_search/main")];

#[test]
fn every_snippet_of_the_guide_is_run_as_it_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut shown = 0;
    for page in fs::read_dir(root.join("../../docs")).unwrap() {
        let page = page.unwrap().path();
        let text = fs::read_to_string(&page).unwrap();
        let name = page.file_stem().unwrap().to_str().unwrap().replace('-', "_");
        let blocks = text.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        for (number, block) in (1..).zip(blocks) {
            let file = match WALKED.iter().find(|(page, _)| *page == name) {
                Some((_, example)) => root.join(format!("examples/{example}.rs")),
                None => root.join(format!("tests/guide/{name}_{number}.rs")),
            };
            let run = fs::read_to_string(&file)
                .unwrap_or_else(|_| panic!("{} is missing", file.display()));
            assert!(run.contains(block), "{} differs from {}", page.display(), file.display());
            shown += 1;
        }
    }
    assert!(shown >= 7, "only {shown} snippets were found");
}
