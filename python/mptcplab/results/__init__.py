"""Results of runs: their tables (`model`), files (`read`, `write`) and descriptions (`text`)."""
