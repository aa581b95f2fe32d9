fun Coin(): bool { return $; }
fun Pick(list: seq[int], bound: int): int { return list[choose(bound + 1)]; }
