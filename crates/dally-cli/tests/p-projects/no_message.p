// An assertion without a message, and a division by zero.
machine Plain { start state S { entry { assert 1 > 2; } } }
machine Divides { var n: int; start state S { entry { n = 1 / n; } } }

test tcPlain [main=Plain]: { Plain };
test tcDivides [main=Divides]: { Divides };
