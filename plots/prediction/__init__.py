"""What a run takes and what movement gains, predicted before it runs: from microbenchmarks and from
traits that are declared of every app, schedule and strategy (docs/prediction.md)."""
