"""Settings files: TOML, checked whole, every mistake with its place and remedy."""
