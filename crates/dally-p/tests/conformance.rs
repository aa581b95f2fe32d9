//! The conformance suite: every case of every document in `conformance/`.

#[path = "conformance/document.rs"]
mod document;

use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

#[test]
fn all() {
    let mut n = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "md") && !path.ends_with("README.md") {
            let doc = path.file_stem().unwrap().to_str().unwrap();
            n += document::read(&folder(), doc).len();
        }
    }
    println!("{n}");
    assert!(n > 300);
}
