// expect: fail endless-step Main, exhaustive
// Announces for ever, to a spec that comes back to its state.
event e;
spec Flip observes e { start state A { on e goto B; } state B { on e goto A; } }
machine Main { start state S { entry { while (true) { announce e; } } } }
test tcAnnounce [main=Main]: assert Flip in { Main };
