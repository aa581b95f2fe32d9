// expect: fail endless-step Main, exhaustive
// Two states that go to each other.
machine Main { start state A { entry { goto B; } } state B { entry { goto A; } } }
test tcGoto [main=Main]: { Main };
