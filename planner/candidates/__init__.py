"""From an instance to priced candidates, and which of them can matter."""
