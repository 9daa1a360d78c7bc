"""Results in sentences: summaries, limiting factors, the glossary of metrics."""
