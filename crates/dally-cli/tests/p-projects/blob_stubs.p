type Blob = (size: int);
fun MakeBlob(n: int): Blob { return (size = n,); }
fun SizeOf(b: Blob): int { return b.size; }
