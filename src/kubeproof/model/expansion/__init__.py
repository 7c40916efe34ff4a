"""What a setup becomes before a run: revisions, ordinals, Jobs of CronJobs and sizes as workloads of their own."""
