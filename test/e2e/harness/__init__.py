"""What the end-to-end tests are written with: a cluster, Gantree on it, faults between the two, and an observer."""
