#!/usr/bin/env bash
# Runs history/tests.rs with the versions that have the bugs, where every test must fail, and with those that have them
# no more, where none may.
set -uo pipefail
cd "$(dirname "$0")"

run() {
    cargo dally test --manifest-path "history/$1/Cargo.toml" --target-dir target --no-fail-fast "${@:2}" 2>&1 |
        tee "target/history-$1.txt" | grep -E "^test |found:|covered|error"
}

mkdir -p target
echo "with the bugs:"
run before "$@"
echo "without:"
run after "$@"
if grep -q "^test .* ok$" target/history-before.txt || grep -q "^test .* FAILED$" target/history-after.txt; then
    echo "not as expected: see target/history-before.txt and target/history-after.txt"
    exit 1
fi
grep -q "^test .* FAILED$" target/history-before.txt && grep -q "^test .* ok$" target/history-after.txt
