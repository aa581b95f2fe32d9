machine Main {
  fun Next(): int { return last + 1; }
}
