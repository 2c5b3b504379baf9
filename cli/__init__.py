"""The `bigtop` command: one module a sub-command, with the Click command under the same name."""
