// expect: fail assertion eCarried, exhaustive
// A payload that lacks a field is still found where it is sent.
event eCarried: (a: int, b: int);
fun Pass(whom: machine, what: event, load: any) { send whom, what, load; }
machine Main { start state S { entry { Pass(this, eCarried, (a = 1,)); } ignore eCarried; } }
test tcMissing [main=Main]: { Main };
