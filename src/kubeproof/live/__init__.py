"""The only room that talks to a cluster; it reads, and cannot do anything else."""
