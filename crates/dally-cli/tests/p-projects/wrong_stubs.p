fun Coin(n: int): bool { return $; }
fun Pick(list: seq[int], bound: int): int { return true; }
machine Nobody { fun Next(): int { return 1; } }
