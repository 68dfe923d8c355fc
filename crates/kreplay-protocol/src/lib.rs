//! What the injected library and the command say to each other.
