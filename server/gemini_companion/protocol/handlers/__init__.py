"""One module per noun; a handler unpacks, calls the application and returns."""
