"""The studio: an instance edited, solved, broken and repaired in a browser, by the public API and nothing beside it."""
