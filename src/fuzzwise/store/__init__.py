"""What a campaign keeps: one SQLite file in its folder, with a version and migrations."""
