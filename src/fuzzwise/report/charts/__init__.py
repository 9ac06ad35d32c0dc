"""Charts, one definition for HTML, SVG and PNG."""
