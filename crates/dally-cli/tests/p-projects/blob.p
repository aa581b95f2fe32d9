// A foreign type, with functions that make and read its values.
type Blob;
fun MakeBlob(n: int): Blob;
fun SizeOf(b: Blob): int;
event eBlob: Blob;

machine Main {
  start state S {
    entry { send this, eBlob, MakeBlob(3); }
    on eBlob do (b: Blob) { assert SizeOf(b) == 4, format("the size is {0}", SizeOf(b)); }
  }
}

test tcBlob [main=Main]: { Main };
