#!/usr/bin/env bash
# Runs the tests that tokio's published crate ships, for sync, task, time and macros, under `cargo dally test`.
#
# Nothing of them is kept here: they are copied from where cargo has downloaded tokio to, below target/.
#
#   bash tokio-own-tests.sh [arguments of cargo dally test]
#   bash tokio-own-tests.sh --schedules 100 --timers idle sync_mpsc
set -euo pipefail
cd "$(dirname "$0")"

place=target/tokio-own-tests
tokio=$(cargo metadata --format-version 1 | python3 -c '
import json, os, sys
packages = json.load(sys.stdin)["packages"]
print(os.path.dirname(next(p["manifest_path"] for p in packages if p["name"] == "tokio")))')
version=$(basename "$tokio" | sed 's/^tokio-//')

mkdir -p "$place/src" "$place/tests"
: > "$place/src/lib.rs"
cat > "$place/Cargo.toml" <<TOML
[package]
name = "tokio-own-tests"
version = "0.0.0"
edition = "2021"
publish = false

[workspace]

[features]
default = ["full", "io-util", "macros", "rt", "rt-multi-thread", "sync", "test-util", "time"]
full = []
io-util = []
macros = []
rt = []
rt-multi-thread = []
sync = []
test-util = []
time = []

[dependencies]
tokio = { version = "=$version", features = ["full", "test-util"] }

[dev-dependencies]
async-stream = "0.3"
futures = { version = "0.3", features = ["async-await"] }
futures-test = "0.3"
rand = "0.9"
tokio-stream = "0.1"
tokio-test = "0.4"

[lints.rust]
warnings = "allow"
TOML
rm -rf "$place/tests"
mkdir -p "$place/tests/of"
cp -r "$tokio/tests/support" "$place/tests/of/"
# Not those of unstable features, of other platforms, and of what the guide says is absent: builders and hooks of
# tasks, dumps, datagrams of Unix (in `time_pause`). Two tests of `macros_select` do
# not compile: a future by reference to a temporary, a type that nothing but `panic!` says. One binary holds all, because each takes a second to link.
for test in "$tokio"/tests/{sync,task,time,macros}_*.rs "$tokio"/tests/join_handle_panic.rs; do
    name=$(basename "$test" .rs)
    case "$name" in
        *emscripten* | *wasm* | *_trace_* | task_builder | task_hooks | time_alt | time_pause | macros_select | sync_mpsc_alloc*) ;;
        *)
            cp "$test" "$place/tests/of/"
            printf '#[path = "of/%s.rs"]\nmod %s;\n' "$name" "$name" >> "$place/tests/own.rs"
            ;;
    esac
done

# A path begins at the root of what was a crate. One comparison with an empty vector has no type of its own where `serde_json`, which Dally's tokio depends on, is
# another candidate for the comparison.
sed -i 's/crate::time/tokio::time/' "$place/tests/of/task_blocking.rs"
sed -i 's/assert_eq!(items, vec!\[\]);/assert_eq!(items, Vec::<u32>::new());/' "$place/tests/of/time_interval.rs"

cargo dally test --manifest-path "$place/Cargo.toml" --target-dir target --no-fail-fast --test own "$@"
