//! Parametric tests.

use insta::assert_snapshot;

use super::{accepted, said};

const MACHINE: &str = "param x, y: int; param b: bool; param s: string;
machine Main { start state S { } }
";

fn names(test: &str) -> Vec<String> {
    accepted(&format!("{MACHINE}{test}")).tests.into_iter().map(|test| test.name).collect()
}

#[test]
fn a_test_runs_once_for_each_combination_of_values() {
    assert_eq!(
        names("test param (x in [2, -1], b in [true, false]) tc [main=Main]: { Main };"),
        ["tc___x_2__b_true", "tc___x_neg1__b_true", "tc___x_2__b_false", "tc___x_neg1__b_false"]
    );
}

#[test]
fn an_assumption_selects_combinations() {
    assert_eq!(
        names(
            "test param (x in [1, 2, 3], y in [1, 2, 3]) assume (x < y && x + y != 4)
            tc [main=Main]: { Main };"
        ),
        ["tc___x_1__y_2", "tc___x_2__y_3"]
    );
}

#[test]
fn pairwise_covers_all_pairs() {
    assert_eq!(
        names(
            "test param (x in [0, 1], y in [0, 1], b in [true, false]) pairwise tc [main=Main]: { Main };"
        ),
        [
            "tc___x_0__y_0__b_true",
            "tc___x_1__y_1__b_true",
            "tc___x_1__y_0__b_false",
            "tc___x_0__y_1__b_false"
        ]
    );
    assert_eq!(
        names("test param (x in [0, 1], y in [0, 1], b in [true, false]) (3 wise) tc [main=Main]: { Main };").len(),
        8
    );
}

#[test]
fn the_values_are_those_of_the_test() {
    let program = accepted(&format!("{MACHINE}test param (y in [7]) tc [main=Main]: {{ Main }};"));
    let set: Vec<_> =
        program.tests[0].params.iter().map(|(param, value)| (param.0, *value)).collect();
    assert_eq!(set, [(1, dally_p::program::LiteralValue::Int(7))]);
}

#[test]
fn values_fit_their_parameters() {
    assert_snapshot!(said(&format!("{MACHINE}{}", r#"
test param (x in [true]) t1 [main=Main]: { Main };
test param (z in [1]) t2 [main=Main]: { Main };
test param (x in [1], x in [2]) t3 [main=Main]: { Main };
test param (x in [1, 1]) t4 [main=Main]: { Main };
test param (s in [1]) t5 [main=Main]: { Main };
test param (x in [1]) assume (x) t6 [main=Main]: { Main };
test param (x in [1]) assume (y == 1) t7 [main=Main]: { Main };
test param (x in [1]) assume (x == 2) t8 [main=Main]: { Main };
test param (x in [1]) assume (1 / (x - 1) == 2) t9 [main=Main]: { Main };
test param (x in [1]) assume (choose(x) == 2) t10 [main=Main]: { Main };
test param (x in [1], y in [1]) (3 wise) t11 [main=Main]: { Main };
test param (x in [1]) t12 [main=Main]: { Main };
test t12___x_1 [main=Main]: { Main };
"#)), @r"
    4:19 `x` is `int`, not `bool` (this is `bool`)
        1:7 declared here
    5:13 there is no parameter `z` (not declared)
    6:23 `x` is declared twice (declared again)
        6:13 first declared here
    7:22 a value of `x` is listed twice (listed again)
        7:19 first listed here
    8:19 `s` is `string`, not `int` (this is `int`)
        1:39 declared here
    9:30 expected `bool`, found `int` (this is `int`)
    10:31 a parameter that the test does not set (has no value here)
        help: add it to `param (...)` of the test
    11:39 no combination of values satisfies the assumption of `t8` (would never run)
    12:31 division by zero in an assumption
    13:31 not possible in an assumption (neither a parameter, a literal nor an operator)
    14:34 3 parameters cannot be combined (the test has 2)
    16:6 two tests are called `t12___x_1` (once with its values)
        15:23 the other one
    ");
}

#[test]
fn too_many_combinations_are_refused() {
    let values: Vec<String> = (0..200).map(|value| value.to_string()).collect();
    let values = values.join(", ");
    assert_snapshot!(
        said(&format!("{MACHINE}test param (x in [{values}], y in [{values}]) tc [main=Main]: {{ Main }};")),
        @r"
    3:1807 `tc` has too many combinations of values (at most 10000 tests can be made of one)
        help: list fewer values, or cover pairs with `pairwise`
    "
    );
}
