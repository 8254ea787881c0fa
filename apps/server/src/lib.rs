//! The kontor service: HTTP surfaces, wiring, configuration, worker and command line.
